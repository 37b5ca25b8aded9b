//! The commas between the elements of an array. [`Elements`] also reads an array with missing or superfluous commas, so
//! that its elements are not lost.
use super::Elements;

/// The commas between elements.
#[derive(Default)]
pub(super) struct Separators {
    /// Number of commas since the last element.
    commas: usize,
    /// True if any array has a missing or superfluous comma.
    are_irregular: bool,
}

impl Separators {
    /// Counts the commas in skipped bytes.
    pub(super) fn skip(&mut self, bytes: &[u8]) {
        self.commas += bytes.iter().filter(|byte| **byte == b',').count();
    }

    /// Checks the commas before the element with this index, which begins with `next_byte`, or before the end of the
    /// array.
    pub(super) fn check(&mut self, index: u64, next_byte: Option<u8>) {
        let expected = usize::from(index > 0 && next_byte != Some(b']'));
        self.are_irregular |= self.commas != expected;
        self.commas = 0;
    }
}

impl Elements<'_> {
    /// True if the stream was one value in UTF-8 and its elements were separated as JSON requires. The stream is then
    /// valid JSON if every element and the text of the wrapping object are. Known only after the last element.
    pub fn are_regular(&self) -> bool {
        !self.separators.are_irregular && self.top_values == 1 && self.source.is_plain()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_model::Limits;

    fn are_regular(mut text: &[u8], chunk_bytes: u64) -> bool {
        let limits = Limits::default();
        let mut elements = Elements::new(&mut text, &limits).with_keys(&["entries"]).with_chunk_bytes(chunk_bytes);
        while elements.next().unwrap().is_some() {}
        elements.are_regular()
    }

    #[test]
    fn elements_are_regular_if_the_rest_is_json() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let regular = [
            "[]",
            " [ 1 , {} , [2,,] ] ",
            "{\"entries\":[{\"a\":1} , {\"b\":2}],\"x\":[1,,]}",
            "{\"entries\":[]}",
            "{}",
        ];
        let irregular = [
            "[1,,2]",
            "[,1]",
            "[,]",
            "[1,]",
            "[{} {}]",
            "{\"entries\":[{}, ,{}]}",
            "{\"entries\":[{}]}[]",
            "[1][2]",
            "{}\n{}",
            "\"[1,2]\"",
        ];
        for chunk_bytes in [1, 3, 1 << 10] {
            for text in regular {
                assert!(are_regular(text.as_bytes(), chunk_bytes), "{text}");
            }
            for text in irregular {
                assert!(!are_regular(text.as_bytes(), chunk_bytes), "{text}");
            }
        }
        assert!(are_regular("\u{feff}[1]".as_bytes(), 1 << 10));
        assert!(!are_regular(&utf16("[1]"), 1 << 10));
    }
}
