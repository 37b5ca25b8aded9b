//! Where the elements of a bundle are in its file. The first pass over the file finds them, so that later passes can
//! read them without searching for their ends.
use mementory_format::{Catalog, FormatError, Member};
use mementory_json::{Element, Elements};
use std::io::{BufReader, Read};

/// Largest number of elements whose places are stored. They need 8 MB of memory.
const MAX_SPANS: usize = 1 << 19;

/// The place of an element: its position in the file and its length, in bytes.
pub(super) type Span = (u64, usize);

/// Collects the places of the elements during the first pass.
#[derive(Default)]
pub(super) struct SpanCollector {
    spans: Vec<Span>,
    /// True if not all elements have a place that can be used later.
    is_incomplete: bool,
}

impl SpanCollector {
    pub(super) fn add(&mut self, element: &Element<'_>) {
        if self.spans.len() == MAX_SPANS || element.index != self.spans.len() as u64 {
            self.is_incomplete = true;
        }
        if !self.is_incomplete {
            self.spans.push((element.offset, element.bytes.len()));
        }
    }

    /// Notes an element that could not be read.
    pub(super) fn add_unreadable(&mut self) {
        self.is_incomplete = true;
    }

    /// The places of all elements. None if some have none, or if the file is not plain UTF-8. All elements must have
    /// been read.
    pub(super) fn finish(self, elements: &Elements<'_>) -> Option<Vec<Span>> {
        (!self.is_incomplete && elements.are_offsets_raw()).then_some(self.spans)
    }
}

/// Receives the index and the text of an element, or an error message if it is not UTF-8.
type Visit<'v> = dyn FnMut(u64, Result<&str, String>) -> Result<(), FormatError> + 'v;

/// Calls `visit` with the element at each of the places.
pub(super) fn visit_spans(
    catalog: &Catalog,
    member: &Member,
    spans: &[Span],
    visit: &mut Visit<'_>,
) -> Result<(), FormatError> {
    catalog.read(member, |reader| {
        let mut reader = BufReader::with_capacity(256 << 10, reader);
        let (mut position, mut buffer) = (0, Vec::new());
        for (index, (start, length)) in spans.iter().enumerate() {
            let io_error = |error| FormatError::io(&member.place, error);
            // The text between two elements is a comma and white space.
            std::io::copy(&mut (&mut reader).take(start - position), &mut std::io::sink()).map_err(io_error)?;
            buffer.resize(*length, 0);
            reader.read_exact(&mut buffer).map_err(io_error)?;
            position = start + *length as u64;
            let text = std::str::from_utf8(&buffer).map_err(|_| "not UTF-8".to_owned());
            visit(index as u64, text)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_model::Limits;

    /// The texts of the elements as the first pass reads them, and as they are read by their places.
    fn read_both_ways(file: &[u8]) -> (Vec<String>, Option<Vec<String>>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("bundle.json"), file).unwrap();
        let limits = Limits { element_bytes: 64, ..Limits::default() };
        let catalog = Catalog::open(&[dir.path().join("bundle.json")], &limits, None).unwrap();
        let member = &catalog.members()[0];
        let (mut texts, mut collector, mut reader) = (Vec::new(), SpanCollector::default(), file);
        let mut elements = Elements::new(&mut reader, &limits).with_keys(&["entries", "disclosed"]);
        loop {
            match elements.next() {
                Ok(None) => break,
                Ok(Some(element)) => {
                    collector.add(&element);
                    texts.push(String::from_utf8(element.bytes.to_vec()).unwrap());
                }
                Err(_) => collector.add_unreadable(),
            }
        }
        let by_place = collector.finish(&elements).map(|spans| {
            let mut by_place = Vec::new();
            visit_spans(&catalog, member, &spans, &mut |index, text| {
                assert_eq!(index, by_place.len() as u64);
                by_place.push(text.unwrap().to_owned());
                Ok(())
            })
            .unwrap();
            by_place
        });
        (texts, by_place)
    }

    #[test]
    fn elements_read_by_their_places_are_those_of_the_first_pass() {
        for file in [
            r#"{"entries":[{"a":1},{"b":"ü, {[\"\\"},3]}"#,
            "{\n \"v\": 1,\n \"entries\" : [\n  {\"a\": [1, 2]} ,\n\n {} \n], \"z\": {}\n}\n",
            r#"{"entries":[],"disclosed":[]}"#,
            r#"{"entries":[]}"#,
        ] {
            let (texts, by_place) = read_both_ways(file.as_bytes());
            assert_eq!(by_place, Some(texts), "{file}");
        }
    }

    #[test]
    fn files_whose_elements_have_no_usable_place_are_read_by_the_first_pass_again() {
        let text = r#"{"entries":[{"a":1},{"b":2}]}"#;
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let large = format!(r#"{{"entries":[{{"a":1}},{{"b":"{}"}},{{"c":3}}]}}"#, "x".repeat(1 << 20));
        for file in [["\u{feff}", text].concat().into_bytes(), utf16, large.into_bytes()] {
            let (texts, by_place) = read_both_ways(&file);
            assert_eq!((texts.len(), by_place), (2, None));
        }
    }
}
