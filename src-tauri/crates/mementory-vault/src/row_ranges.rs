//! Row numbers as ranges: an export that repeats a million known records contains few ranges of rows, which fit in some
//! bytes of its batch.

/// A set of row numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RowRanges(Vec<(i64, i64)>);

impl RowRanges {
    /// Adds a row. Rows that come in order cost nothing.
    pub(crate) fn add(&mut self, row: i64) {
        match self.0.last_mut() {
            Some((_, last)) if row == *last + 1 => *last = row,
            Some((first, last)) if (*first..=*last).contains(&row) => {}
            _ => self.0.push((row, row)),
        }
    }

    /// Sorts and joins what was added.
    fn tidy(&mut self) {
        self.0.sort_unstable();
        let mut out: Vec<(i64, i64)> = Vec::with_capacity(self.0.len());
        for (first, last) in self.0.drain(..) {
            match out.last_mut() {
                Some((_, end)) if first <= *end + 1 => *end = last.max(*end),
                _ => out.push((first, last)),
            }
        }
        self.0 = out;
    }

    /// Gaps and lengths as varints; None for an empty set.
    pub(crate) fn encode(mut self) -> Option<Vec<u8>> {
        self.tidy();
        let mut out = Vec::new();
        let mut at = 0;
        for (first, last) in &self.0 {
            varint(first - at, &mut out);
            varint(last - first, &mut out);
            at = *last;
        }
        (!out.is_empty()).then_some(out)
    }

    /// Reads [`Self::encode`]'s bytes; None when they are cut off.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut numbers = Vec::new();
        let (mut number, mut shift) = (0i64, 0);
        for byte in bytes {
            number |= i64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                numbers.push(std::mem::take(&mut number));
                shift = 0;
            }
        }
        let (pairs, rest) = numbers.as_chunks::<2>();
        let mut at = 0i64;
        let mut runs = Vec::with_capacity(pairs.len());
        for [gap, more] in pairs {
            let first = at.checked_add(*gap)?;
            at = first.checked_add(*more)?;
            runs.push((first, at));
        }
        (shift == 0 && rest.is_empty()).then_some(Self(runs))
    }

    /// True when the row is in it; for a decoded set.
    pub(crate) fn contains(&self, row: i64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= row);
        after.checked_sub(1).and_then(|i| self.0.get(i)).is_some_and(|(_, last)| row <= *last)
    }

    /// First and last row of each range.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.0.iter().copied()
    }
}

fn varint(number: i64, out: &mut Vec<u8>) {
    let mut left = number.unsigned_abs();
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_in_it_and_nothing_else() {
        let cases: [&[i64]; 6] =
            [&[1], &[1, 2, 3], &[9, 1, 2, 2, 300], &[5, 4, 3, 2, 1], &[1_000_000, 70, 71, 1], &[1 << 40, 3]];
        for rows in cases {
            let mut runs = RowRanges::default();
            rows.iter().for_each(|row| runs.add(*row));
            let bytes = runs.encode().unwrap_or_default();
            let back = RowRanges::decode(&bytes).unwrap_or_default();
            let held: Vec<i64> = back.iter().flat_map(|(first, last)| first..=last).collect();
            let mut expected = rows.to_vec();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(held, expected, "{rows:?}");
            for row in 0..400 {
                assert_eq!(back.contains(row), expected.contains(&row), "{row} in {rows:?}");
            }
        }
    }

    #[test]
    fn a_million_rows_in_order_are_a_few_bytes() {
        let mut runs = RowRanges::default();
        (1..=1_000_000).for_each(|row| runs.add(row));
        assert!(runs.encode().is_some_and(|bytes| bytes.len() < 8));
        assert_eq!(RowRanges::default().encode(), None, "nothing told, nothing kept");
        assert_eq!(RowRanges::decode(&[0x80]), None, "cut off");
    }
}
