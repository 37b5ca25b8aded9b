//! One year of exports of a fictional person, for a vault in which users can try the program.
//! `tests/demonstration/make.mjs` generates them.

/// The exports as (file name, content), in the order in which they are imported.
pub const DEMONSTRATION: [(&str, &[u8]); 4] = [
    ("chatgpt-export.zip", include_bytes!("../../../../fixtures/demonstration/chatgpt-export.zip")),
    ("claude-export.zip", include_bytes!("../../../../fixtures/demonstration/claude-export.zip")),
    ("gemini-takeout.zip", include_bytes!("../../../../fixtures/demonstration/gemini-takeout.zip")),
    ("claude-code.zip", include_bytes!("../../../../fixtures/demonstration/claude-code.zip")),
];
