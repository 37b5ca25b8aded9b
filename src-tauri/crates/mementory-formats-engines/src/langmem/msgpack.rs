//! Parses MessagePack, in which the checkpointer of Python stores states. An object of a Python class is an extension
//! that contains the names of its module and its class, and its members. Only the members are read, and no code is run.
use serde_json::{Map, Number, Value};

/// Deepest nesting that is read. Bytes with deeper nesting are rejected.
const MAX_DEPTH: u32 = 64;

/// Parses the value at the beginning of `bytes`. Binary values in it become null. None if the bytes are not
/// MessagePack.
pub(super) fn read(bytes: &[u8]) -> Option<Value> {
    Reader { bytes }.value(MAX_DEPTH)
}

struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    fn next_bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Reads an unsigned number of `width` bytes.
    fn unsigned(&mut self, width: usize) -> Option<u64> {
        Some(self.next_bytes(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn signed(&mut self, width: usize) -> Option<i64> {
        let shift = 64 - 8 * u32::try_from(width).ok()?;
        Some((self.unsigned(width)? << shift).cast_signed() >> shift)
    }

    fn length(&mut self, width: usize) -> Option<usize> {
        usize::try_from(self.unsigned(width)?).ok()
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        let first = *self.next_bytes(1)?.first()?;
        match first {
            0x00..=0x7f => Some(first.into()),
            0x80..=0x8f => self.map(usize::from(first & 0x0f), depth),
            0x90..=0x9f => self.list(usize::from(first & 0x0f), depth),
            0xa0..=0xbf => self.text(usize::from(first & 0x1f)),
            0xc2 | 0xc3 => Some((first == 0xc3).into()),
            0xc4..=0xc6 => {
                let count = self.length(1 << (first - 0xc4))?;
                self.next_bytes(count).map(|_| Value::Null)
            }
            0xc7..=0xc9 => {
                let count = self.length(1 << (first - 0xc7))?;
                self.extension(count, depth)
            }
            0xca => {
                let bits = u32::try_from(self.unsigned(4)?).ok()?;
                Some(float(f64::from(f32::from_bits(bits))))
            }
            0xcb => Some(float(f64::from_bits(self.unsigned(8)?))),
            0xcc..=0xcf => self.unsigned(1 << (first - 0xcc)).map(Value::from),
            0xd0..=0xd3 => self.signed(1 << (first - 0xd0)).map(Value::from),
            0xd4..=0xd8 => self.extension(1 << (first - 0xd4), depth),
            0xd9..=0xdb => {
                let count = self.length(1 << (first - 0xd9))?;
                self.text(count)
            }
            0xdc | 0xdd => {
                let count = self.length(2 << (first - 0xdc))?;
                self.list(count, depth)
            }
            0xde | 0xdf => {
                let count = self.length(2 << (first - 0xde))?;
                self.map(count, depth)
            }
            0xe0..=0xff => Some(i64::from(first.cast_signed()).into()),
            0xc0 | 0xc1 => Some(Value::Null),
        }
    }

    fn text(&mut self, count: usize) -> Option<Value> {
        Some(String::from_utf8_lossy(self.next_bytes(count)?).into_owned().into())
    }

    // A count that is too large needs no check, because every element takes at least one byte, so reading stops at the
    // end of the bytes.
    fn list(&mut self, count: usize, depth: u32) -> Option<Value> {
        let mut out = Vec::new();
        for _ in 0..count {
            out.push(self.value(depth)?);
        }
        Some(out.into())
    }

    fn map(&mut self, count: usize, depth: u32) -> Option<Value> {
        let mut out = Map::new();
        for _ in 0..count {
            let key = match self.value(depth)? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            out.insert(key, self.value(depth)?);
        }
        Some(out.into())
    }

    /// Reads an extension. An object of a class becomes `[module, class, members, …]`, and any other extension becomes
    /// null.
    fn extension(&mut self, count: usize, depth: u32) -> Option<Value> {
        let kind = *self.next_bytes(1)?.first()?;
        let content = self.next_bytes(count)?;
        if kind > 5 {
            return Some(Value::Null);
        }
        let Some(Value::Array(parts)) = (Reader { bytes: content }).value(depth) else { return Some(Value::Null) };
        Some(parts.into_iter().nth(2).unwrap_or_default())
    }
}

fn float(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::read;
    use serde_json::json;

    #[test]
    fn values_are_read() {
        for (bytes, expected) in [
            (&b"\x83\xa1a\x01\xa1b\x92\xc3\xc0\xa1c\xd9\x02hi"[..], json!({"a": 1, "b": [true, null], "c": "hi"})),
            (&[0xff], json!(-1)),
            (&[0xd1, 0xff, 0x00], json!(-256)),
            (&[0xcd, 0x01, 0x00], json!(256)),
            (&[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], json!(1.5)),
            (&[0xc4, 0x01, 0x07], json!(null)),
            (b"\xc7\x0a\x05\x93\xa1m\xa1C\x81\xa1x\xa1y", json!({"x": "y"})),
            (b"\xd4\x63\x00", json!(null)),
        ] {
            assert_eq!(read(bytes).unwrap(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn hostile_bytes_are_refused() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[0xdd, 0xff, 0xff, 0xff, 0xff, 0x01]), None);
        assert_eq!(read(&[0x91; 1000]), None);
        assert_eq!(read(b"\xc9\xff\xff\xff\xff\x05"), None);
    }
}
