//! Converts the word lists in `data/words` to Rust constants, so that a mistake in a file fails the build and nothing
//! has to be parsed at run time. The lists of all languages are merged by name.
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

const WORDS_FOLDER: &str = "data/words";
/// Keys of a word-list file that describe the file and have strings as values. (`reviewed_by` also describes the file,
/// but its value is a list.)
const FILE_INFO_KEYS: [&str; 3] = ["language", "purpose", "made"];

/// Words, first by the name of a table (such as `password`), then by the name of a list in it (such as `names`).
type WordLists = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={WORDS_FOLDER}");
    let mut lists = WordLists::new();
    for entry in fs::read_dir(WORDS_FOLDER)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(&path)?;
            add_file(&text, &mut lists).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    fs::write(Path::new(&folder).join("word_lists.rs"), rust_source(&lists)?)?;
    Ok(())
}

fn add_file(text: &str, lists: &mut WordLists) -> Result<(), Box<dyn Error>> {
    let file: Table = text.parse()?;
    for key in FILE_INFO_KEYS {
        if file.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(format!("`{key}` is missing or is not a text").into());
        }
    }
    if file.get("reviewed_by").is_none_or(|value| words_of(value).is_err()) {
        return Err("`reviewed_by` is missing or is not a list of names".into());
    }
    for (name, value) in &file {
        if FILE_INFO_KEYS.contains(&name.as_str()) || name == "reviewed_by" {
            continue;
        }
        let table = value.as_table().ok_or(format!("`{name}` is not a table of lists"))?;
        for (list, value) in table {
            let place = format!("[{name}] {list}");
            let words = words_of(value).map_err(|error| format!("{place}: {error}"))?;
            let merged = lists.entry(name.clone()).or_default().entry(list.clone()).or_default();
            let mut words_of_file_list = BTreeSet::new();
            for word in words {
                if word.is_empty() || word.trim() != word {
                    return Err(format!("{place}: \"{word}\" is empty or has spaces around it").into());
                }
                if !words_of_file_list.insert(word) {
                    return Err(format!("{place}: \"{word}\" is listed twice").into());
                }
                merged.insert(word.to_owned());
            }
        }
    }
    Ok(())
}

fn words_of(value: &Value) -> Result<Vec<&str>, &'static str> {
    let list = value.as_array().ok_or("not a list")?;
    list.iter().map(|word| word.as_str().ok_or("an entry is not a text")).collect()
}

/// A module for each table with a constant for each list. Longer words come first, so that the first match is the
/// longest.
fn rust_source(lists: &WordLists) -> Result<String, Box<dyn Error>> {
    let mut source = String::new();
    for (table, lists) in lists {
        writeln!(source, "pub(crate) mod {table} {{")?;
        for (list, words) in lists {
            let mut words: Vec<&String> = words.iter().collect();
            words.sort_by_key(|word| std::cmp::Reverse(word.len()));
            writeln!(source, "    pub(crate) const {}: &[&str] = &{words:?};", list.to_uppercase())?;
        }
        writeln!(source, "}}")?;
    }
    Ok(source)
}
