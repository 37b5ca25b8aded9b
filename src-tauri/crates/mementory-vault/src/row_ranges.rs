//! A set of row numbers, stored as ranges. An export that repeats a million known records has only a few ranges, so its
//! batch stores only a few bytes.

/// A set of row numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RowRanges(Vec<(i64, i64)>);

impl RowRanges {
    /// Adds a row. A row that follows the last added row extends the last range.
    pub(crate) fn add(&mut self, row: i64) {
        match self.0.last_mut() {
            Some((_, last)) if row == *last + 1 => *last = row,
            Some((first, last)) if (*first..=*last).contains(&row) => {}
            _ => self.0.push((row, row)),
        }
    }

    /// Sorts the ranges, and joins adjacent ranges.
    fn join_ranges(&mut self) {
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

    /// Encodes each range as two varints: the distance from the last row of the previous range (or from 0) to the
    /// range's first row, and the distance from its first to its last row. Returns None for an empty set.
    pub(crate) fn encode(mut self) -> Option<Vec<u8>> {
        self.join_ranges();
        let mut out = Vec::new();
        let mut previous_last = 0;
        for (first, last) in &self.0 {
            push_varint(first - previous_last, &mut out);
            push_varint(last - first, &mut out);
            previous_last = *last;
        }
        (!out.is_empty()).then_some(out)
    }

    /// Decodes the bytes of [`Self::encode`]. Returns None if the bytes are cut off or contain a number that is too
    /// large.
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
        let mut last_row = 0i64;
        let mut ranges = Vec::with_capacity(pairs.len());
        for [gap, length] in pairs {
            let first = last_row.checked_add(*gap)?;
            last_row = first.checked_add(*length)?;
            ranges.push((first, last_row));
        }
        (shift == 0 && rest.is_empty()).then_some(Self(ranges))
    }

    /// True if the set contains the row. Call it only for a decoded set, because the search requires sorted ranges.
    pub(crate) fn contains(&self, row: i64) -> bool {
        let next_range = self.0.partition_point(|(first, _)| *first <= row);
        next_range.checked_sub(1).and_then(|i| self.0.get(i)).is_some_and(|(_, last)| row <= *last)
    }

    /// Returns the first and last row of each range.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.0.iter().copied()
    }
}

fn push_varint(number: i64, out: &mut Vec<u8>) {
    let mut remaining_bits = number.unsigned_abs();
    while remaining_bits >= 0x80 {
        out.push(remaining_bits as u8 | 0x80);
        remaining_bits >>= 7;
    }
    out.push(remaining_bits as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoded_set_contains_exactly_the_added_rows() {
        let cases: [&[i64]; 6] =
            [&[1], &[1, 2, 3], &[9, 1, 2, 2, 300], &[5, 4, 3, 2, 1], &[1_000_000, 70, 71, 1], &[1 << 40, 3]];
        for rows in cases {
            let mut ranges = RowRanges::default();
            rows.iter().for_each(|row| ranges.add(*row));
            let bytes = ranges.encode().unwrap_or_default();
            let reread = RowRanges::decode(&bytes).unwrap_or_default();
            let decoded: Vec<i64> = reread.iter().flat_map(|(first, last)| first..=last).collect();
            let mut expected = rows.to_vec();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(decoded, expected, "{rows:?}");
            for row in 0..400 {
                assert_eq!(reread.contains(row), expected.contains(&row), "{row} in {rows:?}");
            }
        }
    }

    #[test]
    fn a_million_rows_in_order_take_a_few_bytes() {
        let mut ranges = RowRanges::default();
        (1..=1_000_000).for_each(|row| ranges.add(row));
        assert!(ranges.encode().is_some_and(|bytes| bytes.len() < 8));
        assert_eq!(RowRanges::default().encode(), None, "an empty set has no bytes");
        assert_eq!(RowRanges::decode(&[0x80]), None, "cut off");
    }
}
