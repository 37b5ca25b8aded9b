//! Converts the word lists in `data` to Rust constants, so that a mistake in a file fails the build and no file is
//! parsed at run time. A table may contain only the lists that `FOLDERS` names for its folder.
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

/// For each folder: its path, the name of its constant, and the names of the lists that a table in its files may
/// contain.
const FOLDERS: [(&str, &str, &[&str]); 5] = [
    ("data/about", "ABOUT", &["strong", "cues", "prototypes"]),
    ("data/special", "SPECIAL", &["sure", "hits", "unless", "not", "patterns", "figurative"]),
    ("data/values", "VALUES", &["patterns", "stop", "denied"]),
    ("data/slots", "SLOTS", &["words"]),
    (
        "data/people",
        "PEOPLE",
        &["one", "many", "self", "the_person", "called", "is", "has", "joins", "titles", "not_names"],
    ),
];
/// Files whose lists are not for a single language. Each list becomes a constant with its own name.
const LISTS: [&str; 3] = ["data/concepts.toml", "data/names.toml", "data/other_languages.toml"];
/// Keys for information about a file itself, whose values are strings. Another such key is `reviewed_by`, whose value
/// is a list.
const FILE_INFO_KEYS: [&str; 3] = ["language", "purpose", "made"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=data");
    let mut source = String::new();
    for (folder, constant, lists) in FOLDERS {
        let mut names: Vec<_> = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        names.sort_by_key(fs::DirEntry::file_name);
        writeln!(source, "pub(crate) const {constant}: &[Language] = &[")?;
        for entry in names {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = fs::read_to_string(&path)?;
                let code = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                add_file(&mut source, &code, &text, lists).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        writeln!(source, "];")?;
    }
    for path in LISTS {
        add_lists(&mut source, path).map_err(|error| format!("{path}: {error}"))?;
    }
    let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    fs::write(Path::new(&folder).join("word_lists.rs"), source)?;
    Ok(())
}

fn add_file(source: &mut String, code: &str, text: &str, lists: &[&str]) -> Result<(), Box<dyn Error>> {
    let file: Table = text.parse()?;
    for key in FILE_INFO_KEYS {
        if file.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(format!("`{key}` is missing or is not a text").into());
        }
    }
    words_of(file.get("reviewed_by")).map_err(|error| format!("reviewed_by: {error}"))?;
    let function_words = match file.get("function_words") {
        Some(list) => words_of(Some(list))?,
        None => Vec::new(),
    };
    writeln!(source, "Language {{ code: {code:?}, function_words: &{function_words:?}, tables: &[")?;
    for (name, table) in file.iter().filter_map(|(name, value)| Some((name, value.as_table()?))) {
        if let Some(unknown) = table.keys().find(|key| !lists.contains(&key.as_str())) {
            return Err(format!("[{name}] {unknown} is not a list of this file").into());
        }
        writeln!(source, "Words {{ name: {name:?}, lists: &[")?;
        for list in lists {
            let words = match table.get(*list) {
                Some(list) => words_of(Some(list)).map_err(|error| format!("[{name}] {error}"))?,
                None => Vec::new(),
            };
            writeln!(source, "&{words:?},")?;
        }
        writeln!(source, "] }},")?;
    }
    writeln!(source, "] }},")?;
    Ok(())
}

/// Appends a constant for each list in the file. It is an array of words, or an array of groups of words.
fn add_lists(source: &mut String, path: &str) -> Result<(), Box<dyn Error>> {
    let file: Table = fs::read_to_string(path)?.parse()?;
    for (name, value) in file.iter().filter(|(name, _)| *name != "reviewed_by") {
        let Some(list) = value.as_array() else { continue };
        let constant = name.to_uppercase();
        if list.iter().all(Value::is_array) {
            let groups = list.iter().map(|group| words_of(Some(group))).collect::<Result<Vec<_>, _>>()?;
            writeln!(source, "pub(crate) const {constant}: &[&[&str]] = &[")?;
            groups.iter().try_for_each(|group| writeln!(source, "&{group:?},"))?;
            writeln!(source, "];")?;
        } else {
            writeln!(source, "pub(crate) const {constant}: &[&str] = &{:?};", words_of(Some(value))?)?;
        }
    }
    Ok(())
}

fn words_of(list: Option<&Value>) -> Result<Vec<&str>, Box<dyn Error>> {
    let list = list.and_then(Value::as_array).ok_or("not a list")?;
    let mut words: Vec<&str> = Vec::new();
    for word in list {
        let word = word.as_str().filter(|word| !word.is_empty()).ok_or("an entry is not a text")?;
        if !words.contains(&word) {
            words.push(word);
        }
    }
    Ok(words)
}
