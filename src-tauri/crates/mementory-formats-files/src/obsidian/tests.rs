//! Tests with vaults, with folders of notes, and with files that must not be mistaken for them.
#![allow(clippy::unwrap_used)]
use super::Obsidian;
use crate::cases::{check_cases, claiming};
use crate::testing::read;
use mementory_format::testkit::{Scratch, shared};
use mementory_model::Kind;
use std::collections::HashSet;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&Obsidian);
}

#[test]
fn the_sample_vault_is_read_completely() {
    let Some(path) = shared("exports/17-obsidian-vault") else { return };
    let imported = read(&path, &Obsidian);
    assert_eq!(imported.kinds()["resource"], 5);
    assert_eq!(imported.record("AI/Broken.md").text, "Body survives.");
    assert_eq!(imported.record("latin1.md").text, "café naïve");
    assert_eq!(imported.record("crlf-bom.md").title.as_deref(), Some("CRLF"));
    assert_eq!(imported.codes(), ["encoding", "frontmatter", "program_files"]);
    assert!(imported.dropped.is_empty());
}

#[test]
fn folders_of_assistants_and_programs_are_not_notes() {
    for (name, files) in [
        ("code", vec![("README.md", "# x"), ("src/main.rs", "fn main() {}"), ("Cargo.toml", "[package]")]),
        ("rules", vec![("CLAUDE.md", "Use tabs."), ("AGENTS.md", "Use tabs.")]),
        ("scans", vec![("README.md", "# x"), ("scan 0123456789abcdef0123456789abcdef.bin", "x")]),
        ("memory", vec![("MEMORY.md", "- [a](a.md)"), ("a.md", "---\nname: a\n---\nx"), ("b.md", "y")]),
    ] {
        let scratch = Scratch::new(name);
        for (file, text) in files {
            scratch.put(file, text);
        }
        assert!(!claiming(&scratch.0).contains(&"obsidian"), "{name}");
    }
}

#[test]
fn a_workspace_inside_a_vault_stays_a_workspace() {
    let scratch = Scratch::new("vault-workspace");
    scratch.put(".obsidian/app.json", "{}");
    scratch.put("Note.md", "A note.");
    scratch.put("agent/SOUL.md", "# Soul\nKind.");
    scratch.put("agent/AGENTS.md", "# Rules");
    scratch.put("agent/memory/2026-05-02.md", "## Tides\nHigh at noon.");
    let mut formats = claiming(&scratch.0);
    formats.sort_unstable();
    assert_eq!(formats, ["obsidian", "openclaw"]);
}

#[test]
fn a_vault_in_a_zip_and_its_copy_have_the_same_keys() {
    let scratch = Scratch::new("copies");
    let keys = |folder: &str| {
        scratch.put(&format!("{folder}/.obsidian/app.json"), "{}");
        scratch.put(&format!("{folder}/Daily/2026-05-02.md"), "Planted leeks.");
        let imported = read(&scratch.at(folder), &Obsidian);
        imported.records.iter().map(|r| r.key.clone()).collect::<Vec<_>>()
    };
    assert_eq!(keys("Garden"), keys("Garden-2026-11-25"));
    assert_ne!(keys("Garden"), keys("Work"));
}

#[test]
fn the_program_is_determined_for_each_note() {
    let scratch = Scratch::new("programs");
    scratch.put(".obsidian/app.json", "{}");
    scratch.put("Ola.md", "Likes tea.");
    scratch.put("old/logseq/config.edn", "{}");
    scratch.put("old/pages/Tides.md", "- high at noon");
    scratch.put("Kiln 1f2e3d4c5b6a79881f2e3d4c5b6a7901.md", "# Kiln");
    let imported = read(&scratch.0, &Obsidian);
    for (key, platform, title) in [
        ("Ola.md", "obsidian", "Ola"),
        ("old/pages/Tides.md", "logseq", "Tides"),
        ("1f2e3d4c5b6a79881f2e3d4c5b6a7901.md", "notion", "Kiln"),
    ] {
        let record = imported.record(key);
        assert_eq!((record.source.platform.as_str(), record.title.as_deref()), (platform, Some(title)), "{key}");
    }
    let alone = read(&scratch.put("Bowl 1f2e3d4c5b6a79881f2e3d4c5b6a7904.md", "See [[Kiln]]."), &Obsidian);
    let records: Vec<_> = alone.records.iter().map(|r| (r.source.platform.as_str(), r.title.as_deref())).collect();
    assert_eq!(records, [("notion", Some("Bowl"))]);
}

#[test]
fn two_exports_of_notion_have_the_same_keys() {
    let scratch = Scratch::new("notion-exports");
    let keys = |folder: &str, text: &str| {
        scratch.put(&format!("{folder}/Kiln 1f2e3d4c5b6a79881f2e3d4c5b6a7901.md"), "# Kiln");
        scratch.put(&format!("{folder}/Kiln/pot.png"), "a");
        scratch.put(&format!("{folder}/Kiln/Bowl 1f2e3d4c5b6a79881f2e3d4c5b6a7904.md"), text);
        scratch.put(&format!("{folder}/index.html"), "<ul><li>Kiln</li></ul>");
        let top = folder.split('/').next().unwrap();
        assert!(claiming(&scratch.at(top)).contains(&"obsidian"), "{folder}");
        let imported = read(&scratch.at(top), &Obsidian);
        let files = imported.files.iter().filter(|(file, _)| file.name == "pot.png").map(|(file, _)| file.key.clone());
        let keys: HashSet<_> = imported.records.iter().map(|r| r.key.clone()).chain(files).collect();
        assert_eq!(keys.len(), 3, "{folder}");
        keys
    };
    let first = keys("Export-0a1b2c3d-0000-4000-8000-00000000000a", "# Bowl\n\nClay: grey");
    assert_eq!(first, keys("Export-9f8e7d6c-0000-4000-8000-00000000000b", "# Bowl\n\nClay: red"));
    assert_eq!(first, keys("Moved/Work/Clay", "# Bowl"), "the page was moved, and the folder has another name");
}

#[test]
fn many_notes_are_read_with_links_among_them() {
    let scratch = Scratch::new("many");
    for n in 0..3000 {
        scratch.put(&format!("n/{n}.md"), format!("Next is [[{}]].", (n + 1) % 3000));
    }
    let imported = read(&scratch.0, &Obsidian);
    assert_eq!(imported.kinds()["resource"], 3000);
    assert!(imported.records.iter().all(|r| r.kind == Kind::Resource && r.links.len() == 1));
}
