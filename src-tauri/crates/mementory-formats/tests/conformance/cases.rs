//! The inputs of the suite: all cases below `fixtures/<format>/`.
use mementory_format::testkit::{Scratch, repo, tree};
use mementory_formats::{Format, by_id, registry};
use std::{
    collections::BTreeMap,
    io::{Cursor, Write},
    path::{Path, PathBuf},
};

/// One input of one format.
pub struct Case {
    /// The format named by the folder of the fixture.
    pub format: &'static dyn Format,
    /// `<format>/<case>`.
    pub name: String,
    /// The file or folder to read.
    pub path: PathBuf,
    /// The earlier export on which an incremental export builds.
    pub base: Option<PathBuf>,
    /// The error code with which reading must refuse the input. None if the input can be read.
    pub refused: Option<String>,
    /// The passphrase of an input that is encrypted for its owner.
    pub passphrase: Option<String>,
    _packed: Vec<Scratch>,
}

/// Cases of all formats. A case is a folder that has a `case.json` and a folder `input` or a file `input.*`.
pub fn cases() -> Vec<Case> {
    let fixtures = repo().join("fixtures");
    let mut out = Vec::new();
    for format_dir in sorted_entries(&fixtures) {
        for case_dir in sorted_entries(&format_dir).into_iter().filter(|dir| dir.join("case.json").is_file()) {
            let Some(format) = format_of(&format_dir, &case_dir) else { continue };
            let case: serde_json::Value =
                serde_json::from_slice(&std::fs::read(case_dir.join("case.json")).unwrap()).unwrap();
            for input in
                sorted_entries(&case_dir).into_iter().filter(|path| name(path).split('.').next() == Some("input"))
            {
                out.push(case_for(format, &case_dir, input, &case));
            }
        }
    }
    out
}

/// Readable cases of the formats that `is_wanted` selects. Fails if one of these formats has no readable case.
pub fn readable_cases(is_wanted: impl Fn(&dyn Format) -> bool) -> Vec<Case> {
    let out: Vec<Case> = cases().into_iter().filter(|case| case.refused.is_none() && is_wanted(case.format)).collect();
    for format in registry().iter().copied().filter(|format| is_wanted(*format)) {
        let id = format.id();
        assert!(out.iter().any(|case| case.format.id() == id), "{id} has no case that can be read in fixtures/{id}/");
    }
    out
}

/// The format of a case in `fixtures/<id>/<case>`, or in `fixtures/<a>/<b>` if the format's id is `<a>_<b>`.
fn format_of(format_dir: &Path, case_dir: &Path) -> Option<&'static dyn Format> {
    by_id(&format!("{}_{}", name(format_dir), name(case_dir))).or_else(|| by_id(&name(format_dir)))
}

/// Creates a case. Archives are unpacked in the fixtures, so that changes can be reviewed; this function packs them.
fn case_for(format: &'static dyn Format, case_dir: &Path, input: PathBuf, definition: &serde_json::Value) -> Case {
    let text = |name: &str| definition[name].as_str().map(str::to_owned);
    let mut case = Case {
        format,
        name: format!("{}/{}", format.id(), name(case_dir)),
        path: input,
        base: Some(case_dir.join("base")).filter(|base| base.exists()),
        refused: text("refused"),
        passphrase: text("passphrase"),
        _packed: Vec::new(),
    };
    let capabilities = format.capabilities();
    if capabilities.write && !capabilities.folder {
        for path in [Some(&mut case.path), case.base.as_mut()].into_iter().flatten().filter(|path| path.is_dir()) {
            let scratch = Scratch::new("packed");
            std::fs::write(scratch.at("input.zip"), pack(tree(path))).unwrap();
            *path = scratch.at("input.zip");
            case._packed.push(scratch);
        }
    }
    case
}

/// A ZIP with these files.
pub fn pack(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut out: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    out.sort();
    out
}

/// Maps the names of the files of an input to their bytes. If the input is a single file, the map has one entry.
pub fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    if path.is_dir() { tree(path) } else { BTreeMap::from([(name(path), std::fs::read(path).unwrap())]) }
}

/// The last component of a path.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}
