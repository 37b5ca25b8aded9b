//! Faults of a text that is nearly JSON, that is, valid except for a few common faults.
use mementory_format::FormatError;

/// Code of the first fault in a text that is nearly JSON: `nan`, `lone_surrogate`, `control_character`,
/// `invalid_escape` or `invalid_utf8`. None for valid JSON and for texts that are not nearly JSON.
pub(super) fn json_fault(text: &[u8]) -> Option<&'static str> {
    let (_, codes) = mementory_json::repair(text)?;
    codes.first().copied()
}

/// The error for a document with a fault that [`json_fault`] found.
pub(super) fn fault_error(code: &'static str, place: impl Into<String>) -> FormatError {
    FormatError::invalid(code, place, fault_message(code))
}

/// Message for a fault that [`json_fault`] found.
pub(super) fn fault_message(code: &str) -> &'static str {
    match code {
        "nan" => "not JSON: NaN and infinity are not JSON numbers",
        "lone_surrogate" => "not valid Unicode: half of a surrogate pair",
        "control_character" => "not JSON: a control character that is not escaped",
        "invalid_escape" => "not JSON: an unknown escape sequence",
        "invalid_utf8" => "not UTF-8",
        _ => "not JSON",
    }
}
