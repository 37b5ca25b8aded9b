//! Near-JSON made strict: NaN and infinities become null, raw control characters are escaped, lone surrogates
//! become U+FFFD.

/// Strict JSON text for near-JSON bytes, and what was mended (codes: `nan`, `control_character`, `lone_surrogate`,
/// `invalid_utf8`). None when it is beyond mending.
pub fn repair(_bytes: &[u8]) -> Option<(String, Vec<&'static str>)> {
    None
}
