//! Reads the wire format of Protocol Buffers, as far as the vocabulary file needs it: fields that are bytes or 32-bit
//! numbers. Everything else is skipped. The vocabulary file is the only such file that is read, so no library is
//! needed.

/// A field: its number and its bytes.
pub type Field<'a> = (u64, &'a [u8]);

/// Iterator over the fields of a message. Ends at the first byte that does not fit the format.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let key = self.varint()?;
        let bytes = match key & 7 {
            0 => {
                self.varint()?;
                &[]
            }
            1 => self.take(8)?,
            2 => {
                let length = self.varint()?;
                self.take(usize::try_from(length).ok()?)?
            }
            5 => self.take(4)?,
            _ => return None,
        };
        Some((key >> 3, bytes))
    }
}

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, remaining) = self.0.split_at_checked(length)?;
        self.0 = remaining;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

/// The first field with this number.
pub fn field(message: &[u8], number: u64) -> Option<&[u8]> {
    Fields(message).find(|(n, _)| *n == number).map(|(_, bytes)| bytes)
}
