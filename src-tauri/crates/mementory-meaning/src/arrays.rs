//! Reads little-endian arrays in C order from a NumPy archive (`.npz`, which is a ZIP of `.npy` files).
use crate::EncoderError;
use ndarray::{Array1, Array2, Axis};
use std::io::{Cursor, Read};
use zip::ZipArchive;

/// Largest size of one array in bytes. Every array of the known archive is smaller.
const MAX_ARRAY_BYTES: u64 = 8 << 20;

/// The archive, in memory.
pub struct Arrays<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Arrays<'a> {
    /// Opens an archive.
    pub fn open(file: &'a [u8]) -> Result<Self, EncoderError> {
        ZipArchive::new(Cursor::new(file)).map(Self).map_err(|_| EncoderError::wrong_content_error("archive"))
    }

    /// The bytes of an array of `count` numbers. `kind` is their type in NumPy's notation, such as `<f4`.
    pub fn bytes(&mut self, name: &str, kind: &str, count: usize) -> Result<Vec<u8>, EncoderError> {
        let wrong_array = || EncoderError::wrong_content_error(name);
        let entry = self.0.by_name(&format!("{name}.npy")).map_err(|_| wrong_array())?;
        let mut bytes = Vec::new();
        entry.take(MAX_ARRAY_BYTES).read_to_end(&mut bytes).map_err(|_| wrong_array())?;
        // A file of version 1 begins with a magic number, the version, two bytes with the length of the header, and the
        // header.
        let length =
            bytes.get(8..10).and_then(|b| b.try_into().ok()).map(u16::from_le_bytes).ok_or_else(wrong_array)?;
        let start = 10 + usize::from(length);
        let header = bytes.get(10..start).and_then(|b| std::str::from_utf8(b).ok()).ok_or_else(wrong_array)?;
        let size = usize::from(kind.as_bytes().last().map_or(0, |digit| digit.wrapping_sub(b'0')));
        let expected = bytes.starts_with(b"\x93NUMPY\x01\x00")
            && header.contains(&format!("'descr': '{kind}'"))
            && header.contains("'fortran_order': False")
            && bytes.len() - start == count * size;
        if !expected {
            return Err(wrong_array());
        }
        bytes.drain(..start);
        Ok(bytes)
    }

    /// An array of `count` 32-bit floats.
    pub fn list(&mut self, name: &str, count: usize) -> Result<Array1<f32>, EncoderError> {
        let bytes = self.bytes(name, "<f4", count)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
    }

    /// A matrix of 32-bit floats.
    pub fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, EncoderError> {
        let list = self.list(name, rows * columns)?;
        list.into_shape_with_order((rows, columns)).map_err(|_| EncoderError::wrong_content_error(name))
    }

    /// A single 64-bit float.
    pub fn number(&mut self, name: &str) -> Result<f64, EncoderError> {
        let bytes = self.bytes(name, "<f8", 1)?;
        bytes.try_into().map(f64::from_le_bytes).map_err(|_| EncoderError::wrong_content_error(name))
    }

    /// Three matrices, concatenated side by side.
    pub fn matrices(&mut self, names: [&str; 3], rows: usize, columns: usize) -> Result<Array2<f32>, EncoderError> {
        let [a, b, c] = names.map(|name| self.matrix(name, rows, columns));
        let (a, b, c) = (a?, b?, c?);
        ndarray::concatenate(Axis(1), &[a.view(), b.view(), c.view()])
            .map_err(|_| EncoderError::wrong_content_error(names[0]))
    }

    /// Three arrays of `count` numbers, concatenated.
    pub fn lists(&mut self, names: [&str; 3], count: usize) -> Result<Array1<f32>, EncoderError> {
        let [a, b, c] = names.map(|name| self.list(name, count));
        Ok(a?.into_iter().chain(b?).chain(c?).collect())
    }
}
