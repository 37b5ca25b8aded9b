//! Tests of names that some systems cannot tell apart.
use super::harness::{TempDir, bundle, files, read, validate, write};
#[cfg(target_os = "linux")]
use super::requirements::FixtureBundle;

const NOTE_LINE: &str = "{\"id\":\"n1\",\"text\":\"Water the basil.\"}\n";

/// In an archive, the same names are reported when it is opened.
#[cfg(target_os = "linux")]
#[test]
fn similar_names_in_a_folder_are_refused() {
    let pairs = [("items/note.jsonl", "items/Note.jsonl"), ("items/caf\u{e9}.jsonl", "items/cafe\u{301}.jsonl")];
    for (name, similar_name) in pairs {
        let copy = FixtureBundle::with_files(&[(name, NOTE_LINE), (similar_name, NOTE_LINE)]);
        assert_eq!(copy.errors(), ["container_similar_names"], "{name}");
        assert!(copy.import().is_err(), "{name}");
    }
    let copy = FixtureBundle::copy_of("small");
    std::fs::write(copy.path.join("Manifest.json"), "{}").unwrap();
    assert_eq!(copy.errors(), ["container_similar_names"]);
    assert!(copy.import().is_err());
}

/// Such files can replace only each other, and nothing of the bundle.
#[cfg(target_os = "linux")]
#[test]
fn similar_names_of_files_beside_the_bundle_are_a_warning() {
    let copy = FixtureBundle::copy_of("small");
    for name in ["README.md", "readme.md"] {
        std::fs::write(copy.path.join(name), "Basil, mint.\n").unwrap();
    }
    assert_eq!(copy.errors(), Vec::<String>::new());
    assert!(copy.warnings().contains(&"container_similar_names".to_owned()), "{:?}", copy.warnings());
    assert!(copy.import().is_ok());
    // On a system that ignores case, this file is one of the folder `audit`.
    std::fs::create_dir_all(copy.path.join("Audit")).unwrap();
    std::fs::write(copy.path.join("Audit/log.jsonl"), "").unwrap();
    assert!(copy.errors().contains(&"unlisted_file".to_owned()));
    assert!(copy.import().is_err());
}

#[test]
fn a_file_in_a_folder_that_only_case_distinguishes_from_items_has_to_be_listed() {
    let temp = TempDir::new();
    let path = temp.join("b.mem");
    bundle(&path, &[("audit/log.jsonl", "")]);
    std::fs::create_dir_all(path.join("Items")).unwrap();
    std::fs::write(path.join("Items/fact.jsonl"), NOTE_LINE).unwrap();
    let codes: Vec<String> = validate(&path, &[]).errors.into_iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["unlisted_file"]);
}

#[test]
fn similar_names_of_several_bundles_are_not_written_together() {
    let temp = TempDir::new();
    let read_bundle = |folder: &str, kind: &str, file: &str| {
        let path = temp.join(folder);
        bundle(&path, &[(kind, NOTE_LINE)]);
        std::fs::write(path.join(file), "Basil, mint.\n").unwrap();
        read(&path)
    };
    let mut sink = read_bundle("a.mem", "items/note.jsonl", "notes.txt");
    for (folder, kind, file) in [("b.mem", "items/Note.jsonl", "Notes.txt"), ("c.mem", "items/Fact.jsonl", "list.txt")]
    {
        let other = read_bundle(folder, kind, file);
        sink.records.extend(other.records);
        sink.parts.extend(other.parts);
    }
    let out = temp.join("out.mem");
    write(&sink, &[], &out);
    let errors = validate(&out, &[]).errors;
    assert!(errors.is_empty(), "{errors:?}");
    let names: Vec<String> = files(&out).into_keys().collect();
    let count = |start: &str| names.iter().filter(|name| name.to_lowercase().starts_with(start)).count();
    assert_eq!(
        (count("items/note."), count("notes."), count("items/fact."), count("list.")),
        (1, 1, 0, 1),
        "{names:?}"
    );
    assert_eq!(read(&out).records.len(), 3, "no record is lost");
}
