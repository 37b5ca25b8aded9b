#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, and with files of other programs that have the same names.
use super::AgentRules;
use crate::cases;
use crate::testing::{detect, read};
use mementory_format::testkit::{Scratch, shared};
use mementory_format::{Catalog, Format};
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&AgentRules) >= 3);
}

#[test]
fn joined_verbatims_are_the_original_file() {
    let folder = Scratch::new("agent-rules-whole");
    let texts = [
        ("CLAUDE.md", "---\na: 1\n---\n# A\n\n- one\n- one\n\n## B\n\ntext\n\n## Empty\n"),
        ("AGENTS.md", "only\r\nwords\r\n"),
        (".cursorrules", "- a\n\n\n  more\n- b"),
    ];
    for (name, text) in texts {
        folder.put(name, text);
    }
    let imported = read(&folder.0, &AgentRules);
    for (name, text) in texts {
        let pieces = imported.records.iter().filter(|r| r.fields["file"] == name);
        let joined: String = pieces.map(|r| r.verbatim.as_ref().unwrap().text.as_str()).collect();
        assert_eq!(joined, text);
    }
}

#[test]
fn the_shared_samples_have_every_file() {
    let Some(folder) = shared("exports/19-cursor-windsurf") else { return };
    let imported = read(&folder, &AgentRules);
    let files: std::collections::BTreeSet<_> = imported.records.iter().map(|r| r.fields["file"].to_string()).collect();
    assert_eq!((files.len(), imported.records.len()), (6, 6));
    let Some(folder) = shared("exports/13-claude-code") else { return };
    let catalog = Catalog::open(&[folder], &Limits::default(), None).unwrap();
    let sources = detect(&catalog, &Limits::default(), None).unwrap().sources;
    let parts: Vec<_> = sources.iter().map(|s| (s.format, s.claim.parts.len())).collect();
    assert_eq!(parts, [("claude_code", 6)]);
}

#[test]
fn rules_files_in_an_openclaw_workspace_belong_to_the_workspace() {
    let Some(folder) = shared("exports/16-openclaw-workspace") else { return };
    let catalog = Catalog::open(&[folder], &Limits::default(), None).unwrap();
    let detection = detect(&catalog, &Limits::default(), None).unwrap();
    assert_eq!(detection.sources.iter().map(|s| s.format).collect::<Vec<_>>(), ["openclaw"]);
    assert!(detection.ties.is_empty());
}

#[test]
fn memories_of_hermes_are_read_also_beside_its_identity() {
    let folder = Scratch::new("agent-rules-hermes");
    folder.put(".hermes/SOUL.md", "# Hermes\nYou are direct.\n");
    folder.put(".hermes/memories/MEMORY.md", "Backups run on Sundays\n§\n§\nPodman is installed\n");
    folder.put(".hermes/memories/USER.md", "Name is Ilva");
    let catalog = Catalog::open(&[folder.at(".hermes")], &Limits::default(), None).unwrap();
    let detection = detect(&catalog, &Limits::default(), None).unwrap();
    let parts: Vec<_> = detection.sources.iter().map(|s| (s.format, s.claim.parts.len())).collect();
    assert_eq!(parts, [("openclaw", 1), ("agent_rules", 2)]);
    let imported = read(&folder.at(".hermes/memories"), &AgentRules);
    let joined: String = imported.records.iter().map(|r| r.verbatim.as_ref().unwrap().text.as_str()).collect();
    assert_eq!(joined, "Backups run on Sundays\n§\n§\nPodman is installed\nName is Ilva");
    assert_eq!(imported.records.len(), 3);
}

#[test]
fn a_user_file_of_another_program_is_not_one_of_hermes() {
    let paragraph = "Name is Ilva; a hydrologist";
    for (name, text, other) in [
        ("USER.md", "# About your human\n\nName is Ilva\n", ""),
        ("USER.md", "- **Name:** Ilva\n", ""),
        ("USER.md", "First paragraph.\n\nSecond paragraph.\n", ""),
        ("user.md", paragraph, ""),
        ("USER.md", paragraph, "notes.md"),
        ("USER.md", paragraph, "memory/2026-01-01.md"),
    ] {
        let folder = Scratch::new("agent-rules-user");
        folder.put(name, text);
        if !other.is_empty() {
            folder.put(other, "# A note\n\nwith words\n");
        }
        assert!(!has_rules(&folder.0), "{name} {text:?} {other}");
    }
    let folder = Scratch::new("agent-rules-user-long");
    folder.put("USER.md", "word ".repeat(400));
    assert!(!has_rules(&folder.0));
    let folder = Scratch::new("agent-rules-user-many");
    folder.put("USER.md", paragraph);
    for number in 1..1_000 {
        folder.put(&format!("pictures/{number}.png"), "x");
    }
    assert!(has_rules(&folder.0));
    folder.put("pictures/1000.png", "x");
    assert!(!has_rules(&folder.0), "among many files, the name and one paragraph are not enough");
}

#[test]
fn rules_in_the_folders_of_other_agents_are_read() {
    for (name, platform) in [
        (".kiro/steering/product.md", "kiro"),
        (".junie/guidelines.md", "junie"),
        (".amazonq/rules/style.md", "amazon-q"),
        (".continue/rules/style.md", "continue"),
        (".trae/rules/project_rules.md", "trae"),
        (".augment/rules/style.md", "augment"),
        (".roo/rules-code/style.txt", "roo-code"),
        (".serena/memories/overview.md", "serena"),
        ("WARP.md", "warp"),
    ] {
        let folder = Scratch::new("agent-rules-folders");
        folder.put(name, "- Fire slowly\n");
        let imported = read(&folder.0, &AgentRules);
        let platforms: Vec<_> = imported.records.iter().map(|r| r.source.platform.as_str()).collect();
        assert_eq!(platforms, [platform], "{name}");
    }
    // A note whose name is also the name of a tool's rules file is not claimed.
    let folder = Scratch::new("agent-rules-note");
    folder.put("Warp.md", "Warp and weft\n");
    let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
    assert!(AgentRules.detect(&catalog, &Limits::default()).unwrap().is_empty());
}

#[test]
fn a_folder_of_rules_for_cline_may_be_selected_by_itself() {
    let folder = Scratch::new("agent-rules-cline");
    for n in 1..=6 {
        folder.put(&format!(".clinerules/{n}.md"), format!("- Rule {n}\n"));
    }
    folder.put(".clinerules/more.txt", "- Rule 7\n");
    let imported = read(&folder.at(".clinerules"), &AgentRules);
    assert_eq!(imported.records.len(), 7);
    assert!(imported.records.iter().all(|record| record.source.platform == "cline"));
}

#[test]
fn other_files_are_not_claimed() {
    let folder = Scratch::new("agent-rules-none");
    folder.put("README.md", "# Read me\n\n- a\n");
    folder.put("notes/claude.txt", "CLAUDE.md is a file");
    folder.put("skill.md", "---\nname: x\ndescription: y\n---\nA skill.");
    folder.put("AGENTS.md", [0u8, 1, 2, 0]);
    let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
    let detection = detect(&catalog, &Limits::default(), None).unwrap();
    assert!(detection.sources.iter().all(|s| s.format != "agent_rules"), "{:?}", detection.sources);
}

#[test]
fn an_mdc_file_is_a_rule_by_its_folder_or_its_frontmatter() {
    let described = "---\ndescription: How nets are mended\n---\n- Knots are tested twice.\n";
    let folder = Scratch::new("agent-rules-mdc");
    for (name, text, is_rule) in [
        (".cursor/rules/a.mdc", "- Knots are tested twice.\n", true),
        ("web/.cursor/rules/a.mdc", "- Knots are tested twice.\n", true),
        ("a.mdc", described, true),
        ("a.mdc", "---\nglobs: nets/**/*.ts\n---\n- Knots are tested twice.\n", true),
        ("docs/a.mdc", "---\nalwaysApply: false\n---\n- Knots are tested twice.\n", true),
        ("a.mdc", "- Knots are tested twice.\n", false),
        ("a.mdc", "---\ntitle: Nets\n---\n- Knots are tested twice.\n", false),
        ("docs/a.mdc", described, false),
        ("docs/a.mdc", "- Knots are tested twice.\n", false),
    ] {
        folder.put(&format!("case/{name}"), text);
        assert_eq!(has_rules(&folder.at("case")), is_rule, "{name} {text}");
        std::fs::remove_dir_all(folder.at("case")).unwrap();
    }
}

#[test]
fn folders_of_dependencies_and_build_output_are_not_searched() {
    for (skipped, manifest) in [
        (".git", None),
        ("node_modules", None),
        ("Node_Modules", None),
        ("dist", Some("package.json")),
        ("target", Some("Cargo.toml")),
        ("vendor", Some("go.mod")),
        ("Vendor", Some("composer.json")),
    ] {
        let folder = Scratch::new("agent-rules-skipped");
        folder.put(&format!("boat/{skipped}/net/CLAUDE.md"), "- Knots are tested twice.\n");
        folder.put(&format!("boat/{skipped}/net/.cursor/rules/a.mdc"), "---\nalwaysApply: true\n---\n- One knot.\n");
        if let Some(manifest) = manifest {
            folder.put(&format!("boat/{manifest}"), "");
        }
        assert!(!has_rules(&folder.0), "{skipped}");
        // If a person selects the skipped folder itself, its rules are read.
        assert!(has_rules(&folder.at(&format!("boat/{skipped}"))), "{skipped}");
    }
}

#[test]
fn a_folder_named_like_build_output_is_searched_without_a_manifest_beside_it() {
    for name in ["dist", "target", "vendor"] {
        for path in [name.to_owned(), format!("work/{name}/net")] {
            let folder = Scratch::new("agent-rules-own");
            folder.put(&format!("{path}/CLAUDE.md"), "- Knots are tested twice.\n");
            // These manifests are not next to the folder, so the folder is not skipped.
            for manifest in ["package.json".to_owned(), "other/go.mod".to_owned(), format!("{path}/Cargo.toml")] {
                folder.put(&manifest, "");
            }
            assert!(has_rules(&folder.0), "{path}");
        }
    }
}

/// True if rules are found in this folder.
fn has_rules(folder: &std::path::Path) -> bool {
    let catalog = Catalog::open(&[folder.to_path_buf()], &Limits::default(), None).unwrap();
    detect(&catalog, &Limits::default(), None).unwrap().sources.iter().any(|source| source.format == "agent_rules")
}

/// The folder name in the record keys of the first source of these inputs.
fn folder_name(paths: &[std::path::PathBuf]) -> Option<String> {
    let catalog = Catalog::open(paths, &Limits::default(), None).unwrap();
    let sources = detect(&catalog, &Limits::default(), None).unwrap().sources;
    let rules = sources.iter().find(|s| s.format == "agent_rules").unwrap();
    AgentRules.folder_keys(&catalog, rules).map(|keys| keys.name().to_owned())
}

#[test]
fn the_outermost_folder_is_named_unless_it_distinguishes_projects() {
    let folder = Scratch::new("agent-rules-folder-name");
    folder.put("ferry/CLAUDE.md", "- Times are in UTC.\n");
    folder.put("ferry/.cursor/rules/style.mdc", "---\nalwaysApply: true\n---\n- Four spaces.\n");
    folder.put("lighthouse/CLAUDE.md", "- The lamp needs the simulator.\n");
    assert_eq!(folder_name(&[folder.at("ferry")]).as_deref(), Some("ferry"));
    assert_eq!(folder_name(&[folder.at("ferry"), folder.at("lighthouse")]), None);
    assert_eq!(folder_name(&[folder.at("ferry/CLAUDE.md")]), None);
    let keys: Vec<_> = read(&folder.at("ferry"), &AgentRules).records.into_iter().map(|r| r.key).collect();
    assert!(keys.len() == 2 && keys.iter().all(|key| key.value.split('/').nth(1) == Some("ferry")), "{keys:?}");
}
