//! Names of compressed files.

/// Endings of the names of compressed files, and what replaces them in the name of the content.
const ENDINGS: [(&str, &str); 4] = [(".gz", ""), (".tgz", ".tar"), (".zst", ""), (".zstd", "")];

/// True if the name is that of a compressed file.
pub(super) fn is_compressed_name(name: &str) -> bool {
    ENDINGS.iter().any(|(ending, _)| has_ending(name, ending))
}

fn has_ending(name: &str, ending: &str) -> bool {
    let tail = name.len().checked_sub(ending.len()).and_then(|position| name.get(position..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(ending))
}

/// The name of the content: without `.gz`, `.zst` or `.zstd`, and with `.tar` instead of `.tgz`.
pub(super) fn content_name(name: &str) -> String {
    let ending = ENDINGS.iter().find(|(ending, _)| has_ending(name, ending));
    let name_of_content =
        ending.and_then(|(ending, other)| Some(format!("{}{other}", name.get(..name.len() - ending.len())?)));
    name_of_content.unwrap_or_else(|| name.to_owned())
}
