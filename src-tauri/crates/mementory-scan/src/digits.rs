//! Finds runs of digits and the gaps between them, and provides checks that several number detectors use.

/// Kind of the text between a run of digits and the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Any other text. Such text does not occur within numbers.
    None,
    Space,
    Hyphen,
    Dot,
    Slash,
    /// Brackets, with or without spaces: `(030) 12`, `+49 (0) 30`.
    Bracket,
}

/// A run of digits, and the kind of gap between it and the next run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DigitRun {
    pub start: usize,
    pub end: usize,
    pub gap: Gap,
}

impl DigitRun {
    pub fn len(&self) -> usize {
        self.end - self.start
    }
}

/// All runs of digits, in text order.
pub(crate) fn find_runs(bytes: &[u8]) -> Vec<DigitRun> {
    let mut runs: Vec<DigitRun> = Vec::new();
    let mut position = 0;
    while let Some(skip) = bytes[position..].iter().position(u8::is_ascii_digit) {
        let start = position + skip;
        let length = bytes[start..].iter().position(|b| !b.is_ascii_digit()).unwrap_or(bytes.len() - start);
        if let Some(last) = runs.last_mut() {
            last.gap = gap_kind(&bytes[last.end..start]);
        }
        runs.push(DigitRun { start, end: start + length, gap: Gap::None });
        position = start + length;
    }
    runs
}

/// The kind of gap between two runs. No-break spaces and thin spaces count as spaces, and all kinds of hyphen count as
/// hyphens.
fn gap_kind(between: &[u8]) -> Gap {
    match between {
        b" " | [0xC2, 0xA0] | [0xE2, 0x80, 0xAF | 0x89] => Gap::Space,
        b"-" | [0xE2, 0x80, 0x90..=0x93] | b" - " => Gap::Hyphen,
        b"." => Gap::Dot,
        b"/" | b" / " => Gap::Slash,
        b")" | b") " | b" (" | b"(" | b")-" | b"-(" | b" )" | b") (" | b")(" | b")/" | b"/(" => Gap::Bracket,
        _ => Gap::None,
    }
}

/// Whether the first runs have these lengths, with these gaps between them. `gaps` is repeated as often as needed.
pub(crate) fn is_grouped(runs: &[DigitRun], lengths: &[usize], gaps: &[Gap]) -> bool {
    runs.len() >= lengths.len()
        && runs.iter().zip(lengths).all(|(run, length)| run.len() == *length)
        && runs[..lengths.len() - 1].iter().zip(gaps.iter().cycle()).all(|(run, gap)| run.gap == *gap)
}

/// Whether the value at `start..end` is a complete number: it is not next to a letter, a digit, a character that would
/// make the number longer, or a sign such as `€`, `$`, `%` or `#`.
pub(crate) fn is_separate(bytes: &[u8], start: usize, end: usize) -> bool {
    let byte_before = start.checked_sub(1).map(|position| bytes[position]);
    let second_before = start.checked_sub(2).map(|position| bytes[position]);
    let byte_after = bytes.get(end).copied();
    let second_after = bytes.get(end + 1).copied();
    let is_word_byte = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_number_sign = |b: Option<u8>| matches!(b, Some(b'-' | b'.' | b'/' | b',' | b'+'));
    let is_letter_or_digit = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    let is_joined = is_word_byte(byte_before)
        || is_word_byte(byte_after)
        || is_number_sign(byte_before) && is_letter_or_digit(second_before)
        || is_number_sign(byte_after) && is_letter_or_digit(second_after);
    let is_amount = matches!(byte_before, Some(b'$' | b'#' | b'%')) || matches!(byte_after, Some(b'%' | b'$'));
    !is_joined && !is_amount && !bytes[..start].ends_with("€".as_bytes())
}

/// The values of the digits in `start..end`.
pub(crate) fn digits_of(bytes: &[u8], start: usize, end: usize) -> Vec<u8> {
    bytes[start..end].iter().filter(|b| b.is_ascii_digit()).map(|b| b - b'0').collect()
}
