//! Tests of workspaces that are exported as agents (spec §10.2, §10.3, §10.5, §10.7), and of encrypted archives (§8.3).
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::delta::{AlfDelta, apply};
use super::testing::*;
use crate::alf::testing::workspace;
use mementory_format::testkit::FakeCipher;
use mementory_format::{Format, FormatError, Passphrase, WriteOptions};
use mementory_formats_agents::openclaw::{OpenClaw, redact};
use mementory_formats_agents::zeroclaw::{ZeroClaw, testing::create_home};
use mementory_model::{Kind, Limits, LossKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn json_of(entries: &BTreeMap<String, Vec<u8>>, name: &str) -> Value {
    serde_json::from_slice(&entries[name]).unwrap()
}

/// Returns the files of a workspace, with the secrets in settings files redacted.
fn redacted(tree: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let redacted_file = |(name, bytes): (&String, &Vec<u8>)| match name.ends_with(".json") || name.ends_with(".toml") {
        true => (name.clone(), redact::redact(std::str::from_utf8(bytes).unwrap()).0.into_bytes()),
        false => (name.clone(), bytes.clone()),
    };
    tree.iter().map(redacted_file).collect()
}

fn raw_files(entries: &BTreeMap<String, Vec<u8>>, runtime: &str) -> BTreeMap<String, Vec<u8>> {
    let start = format!("raw/{runtime}/");
    entries.iter().filter_map(|(n, b)| Some((n.strip_prefix(&start)?.to_owned(), b.clone()))).collect()
}

fn workspaces() -> Vec<PathBuf> {
    let official_workspaces = ["standard", "minimal", "community-patterns"];
    let official_workspaces =
        official_workspaces.into_iter().filter_map(|n| shared(&format!("reference/alf/openclaw-workspaces/{n}")));
    official_workspaces.chain([repo().join("fixtures/openclaw/workspace/input")]).collect()
}

#[test]
fn spec_10_2_raw_files_of_a_workspace_are_byte_equal() {
    for (n, source) in workspaces().into_iter().enumerate() {
        let scratch = Scratch::new(&format!("10-2-raw-{n}"));
        let archive = scratch.0.join("a.alf");
        write(&mut workspace::read(&source, &OpenClaw), &archive);
        assert_eq!(validate(&archive).errors, [], "{}", source.display());
        copy_for_interop(&archive, &format!("workspace-{n}.alf"));
        let tree_before = workspace::tree(&source);
        assert_eq!(raw_files(&entries(&archive), "openclaw"), redacted(&tree_before), "{}", source.display());

        // After an import, only the records contain the texts, and the same workspace is restored from them.
        let mut reread = read(&archive).unwrap();
        assert!(reread.notes.is_empty(), "{:?}", reread.notes);
        let texts = reread.parts.iter().filter(|(item, _)| item.name.ends_with(".md"));
        assert!(texts.into_iter().all(|(_, bytes)| bytes.trim_ascii().is_empty()), "no text is stored twice");
        workspace::write(&mut reread, &scratch.0.join("w"), &OpenClaw);
        assert_eq!(workspace::tree(&scratch.0.join("w")), redacted(&tree_before), "{}", source.display());
        // A second export yields the same archive.
        write(&mut reread, &scratch.0.join("b.alf"));
        let other_entries =
            |name: &str| entries(&scratch.0.join(name)).into_iter().filter(|(n, _)| n != "manifest.json");
        assert!(other_entries("a.alf").eq(other_entries("b.alf")), "{}", source.display());
    }
}

#[test]
fn spec_10_7_workspace_profiles_become_identity_and_principal() {
    let source = repo().join("fixtures/openclaw/workspace/input");
    let scratch = Scratch::new("10-7-workspace");
    let archive = scratch.0.join("a.alf");
    let mut vault = workspace::read(&source, &OpenClaw);
    write(&mut vault, &archive);
    let (all_entries, files) = (entries(&archive), workspace::tree(&source));
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();

    let manifest = json_of(&all_entries, "manifest.json");
    assert_eq!(manifest["agent"]["id"], text(".alf-agent-id").trim());
    assert_eq!(manifest["agent"]["source_runtime"], "openclaw");
    let identity = json_of(&all_entries, "identity.json");
    assert_eq!(identity["agent_id"], manifest["agent"]["id"]);
    assert_eq!(manifest["agent"]["name"], identity["structured"]["names"]["primary"]);
    for (block, file) in
        [("soul", "SOUL.md"), ("identity_profile", "IDENTITY.md"), ("operating_instructions", "AGENTS.md")]
    {
        assert_eq!(identity["prose"][block], text(file), "{file}");
    }
    assert_eq!(identity["prose"]["custom_blocks"]["boot_checklist"], text("BOOT.md"));
    let principals = json_of(&all_entries, "principals.json")["principals"].as_array().unwrap().clone();
    assert_eq!(principals.len(), 1);
    assert_eq!(principals[0]["principal_type"], "human");
    assert_eq!(principals[0]["profile"]["prose"]["user_profile"], text("USER.md"));
    assert_eq!(principals[0]["profile"]["principal_id"], principals[0]["id"]);

    // Each memory states its file name, and none of them is a profile.
    let lines: Vec<Value> = all_entries
        .iter()
        .filter(|(name, _)| name.starts_with("memory/partitions/"))
        .flat_map(|(_, bytes)| String::from_utf8(bytes.clone()).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        .map(|line| serde_json::from_str(&line).unwrap())
        .collect();
    assert!(lines.iter().all(|l| l["category"] != "profile" && l["agent_id"] == manifest["agent"]["id"]));
    let day = lines.iter().find(|l| l["source"]["origin_file"] == "memory/2026-03-04.md").unwrap();
    assert_eq!(
        (&day["namespace"], &day["category"], &day["memory_type"]),
        (&json!("daily"), &json!("daily_log"), &json!("episodic"))
    );
    let profiles = |vault: &MemorySource| {
        let profiles = vault.records.iter().filter(|r| r.kind == Kind::Profile);
        profiles.map(|r| (r.key.value.clone(), serde_json::to_value(r).unwrap())).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(profiles(&read(&archive).unwrap()), profiles(&vault), "profiles are restored completely");
}

#[test]
fn identity_change_by_another_program_is_imported() {
    let scratch = Scratch::new("identity-elsewhere");
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write(&mut workspace::read(&repo().join("fixtures/openclaw/workspace/input"), &OpenClaw), &first_archive);
    write_changed_copy(&first_archive, &second_archive, |name, bytes| match name {
        "identity.json" => {
            let mut doc: Value = serde_json::from_slice(&bytes).unwrap();
            doc["prose"]["soul"] = json!("# Other\nBe brief.\n");
            doc["prose"].as_object_mut().unwrap().remove("operating_instructions");
            doc.to_string().into_bytes()
        }
        "principals.json" => {
            let mut doc: Value = serde_json::from_slice(&bytes).unwrap();
            doc["principals"][0]["profile"]["prose"]["user_profile"] = json!("# Ines\nNow in Porto.\n");
            doc.to_string().into_bytes()
        }
        _ => bytes,
    });
    let mut reread = read(&second_archive).unwrap();
    let texts: Vec<&str> = reread.records.iter().filter(|r| r.kind == Kind::Profile).map(|r| r.text.as_str()).collect();
    assert!(texts.contains(&"# Other\nBe brief.") && texts.contains(&"# Ines\nNow in Porto."), "{texts:?}");
    workspace::write(&mut reread, &scratch.0.join("w"), &OpenClaw);
    let tree = workspace::tree(&scratch.0.join("w"));
    assert_eq!(tree["SOUL.md"], b"# Other\nBe brief.\n");
    assert_eq!(tree["USER.md"], b"# Ines\nNow in Porto.\n");
    assert!(tree.contains_key("AGENTS.md"), "its file under raw/ still exists and is preferred (spec §6.2)");
}

#[test]
fn changed_raw_file_is_stored_and_reported() {
    let scratch = Scratch::new("raw-elsewhere");
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write(&mut workspace::read(&repo().join("fixtures/openclaw/workspace/input"), &OpenClaw), &first_archive);
    write_changed_copy(&first_archive, &second_archive, |name, bytes| {
        if name == "raw/openclaw/SOUL.md" { b"# Changed\n".to_vec() } else { bytes }
    });
    let reread = read(&second_archive).unwrap();
    assert_eq!(reread.notes.iter().map(|n| n.code.as_str()).collect::<Vec<_>>(), ["raw_changed"]);
    assert!(reread.parts.iter().any(|(item, bytes)| item.name == "raw/openclaw/SOUL.md" && bytes == b"# Changed\n"));
}

/// A workspace may have names that some systems refuse, but readers refuse an archive with such names.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "other systems do not have such files")]
fn files_whose_names_some_systems_refuse_are_renamed_in_the_archive_only() {
    let scratch = Scratch::new("refused-names");
    let (source, archive) = (scratch.0.join("w"), scratch.0.join("a.alf"));
    let files: [(&str, &[u8]); 9] = [
        (".alf-agent-id", b"0197f2a0-1111-7000-8000-00000000000d\n"),
        ("SOUL.md", b"# Wren\nCalm.\n"),
        ("memory/Tides.md", b"# Tides\nHigh at noon.\n"),
        ("memory/tides.md", b"# tides\nLow at six.\n"),
        ("memory/aux.md", b"# Ropes\nTwo are worn.\n"),
        ("memory/caf\u{e9}.db", b"one"),
        ("memory/cafe\u{301}.db", b"two"),
        ("charts/Nul.csv", b"1,2\n"),
        ("charts/bay.", b"3,4\n"),
    ];
    workspace::put(&source, &files);
    let report = write(&mut workspace::read(&source, &OpenClaw), &archive);
    assert!(report.losses.count("file", LossKind::Narrowed) >= 2, "{:?}", report.losses.items);
    assert_eq!(validate(&archive).errors, []);
    let (catalog, detection) = open(&archive).unwrap();
    let faults: Vec<_> = detection.sources[0].listing_faults(&catalog).into_iter().map(|f| &f.issue.place).collect();
    assert_eq!(faults, [] as [&String; 0]);
    let mut reread = read(&archive).unwrap();
    workspace::write(&mut reread, &scratch.0.join("restored"), &OpenClaw);
    assert_eq!(workspace::tree(&scratch.0.join("restored")), workspace::tree(&source));
}

#[test]
fn spec_10_2_zeroclaw_home_is_byte_equal() {
    let scratch = Scratch::new("10-2-zeroclaw");
    create_home(&scratch.0.join("home"));
    let archive = scratch.0.join("a.alf");
    let report = write(&mut workspace::read(&scratch.0.join("home"), &ZeroClaw), &archive);
    assert_eq!(report.losses.count("secret", LossKind::LeftOut), 2, "settings and the key file");
    assert_eq!(validate(&archive).errors, []);
    copy_for_interop(&archive, "zeroclaw.alf");
    let mut tree_before = workspace::tree(&scratch.0.join("home"));
    tree_before.remove(".secret_key");
    // Files that the runtime does not need are artifacts (spec §3.1.9).
    let all_entries = entries(&archive);
    let mut runtime_files = tree_before.clone();
    assert_eq!(runtime_files.remove("workspace/notes.bin"), all_entries.get("artifacts/notes.bin").cloned());
    assert_eq!(raw_files(&all_entries, "zeroclaw"), redacted(&runtime_files));
    let identity = json_of(&entries(&archive), "identity.json");
    assert_eq!(identity["structured"]["names"]["primary"], "Wren");
    assert_eq!(identity["structured"]["psychology"]["neural_matrix"]["logic"], 0.8);
    assert_eq!(identity["structured"]["goals"], json!(["Keep order"]));
    let extensions = json!({"identity": {"bio": {"gender": "none"}}, "x": 1.0});
    assert_eq!(identity["structured"]["aieos_extensions"], extensions);
    let mut reread = read(&archive).unwrap();
    workspace::write(&mut reread, &scratch.0.join("back"), &ZeroClaw);
    assert_eq!(workspace::tree(&scratch.0.join("back")), redacted(&tree_before));
}

fn sealed_with(words: &'static str) -> Option<Arc<dyn Passphrase>> {
    Some(Arc::new(FakeCipher(words)))
}

fn code(error: FormatError) -> &'static str {
    match error {
        FormatError::Invalid { code, .. } => code,
        other => panic!("{other}"),
    }
}

/// An encrypted archive of a ZeroClaw home with secrets, and the same archive decrypted.
fn sealed_home(scratch: &Scratch) -> (PathBuf, PathBuf) {
    create_home(&scratch.0.join("home"));
    let (archive, decrypted_archive) = (scratch.0.join("a.alf"), scratch.0.join("inside.alf"));
    let options = WriteOptions { everything: true, passphrase: sealed_with("tea"), ..WriteOptions::default() };
    let mut vault = workspace::read(&scratch.0.join("home"), &ZeroClaw);
    let report = super::Alf.write(&mut vault, &archive, &options).unwrap();
    assert_eq!(report.losses.count("secret", LossKind::LeftOut), 0, "sealed, not lost");
    let mut plain = Vec::new();
    let file = std::fs::File::open(&archive).unwrap();
    FakeCipher("tea").open_file(Box::new(file)).unwrap().read_to_end(&mut plain).unwrap();
    std::fs::write(&decrypted_archive, plain).unwrap();
    (archive, decrypted_archive)
}

#[test]
fn spec_10_5_sealed_secrets_open_only_with_the_right_passphrase() {
    let scratch = Scratch::new("10-5-keys");
    let (_, decrypted_archive) = sealed_home(&scratch);
    let all_entries = entries(&decrypted_archive);
    assert_eq!(validate(&decrypted_archive).errors, []);
    copy_for_interop(&decrypted_archive, "sealed.alf");
    for (name, bytes) in &all_entries {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("sk-zc-0123456789") && !text.contains("0011\n"), "{name}");
    }
    let rows = json_of(&all_entries, "credentials.json")["credentials"].as_array().unwrap().clone();
    let our_rows: Vec<&Value> = rows.iter().filter(|r| r["encryption"]["layout"] == "keepsake-credential-v1").collect();
    let labels: Vec<&str> = our_rows.iter().map(|r| r["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["secrets of settings and key files"]);
    assert!(our_rows.iter().all(|r| r["encryption"]["kdf_params"]["salt"].is_string()));

    let config = |vault: &MemorySource| vault.parts.iter().find(|(i, _)| i.name == "config.toml").unwrap().1.clone();
    let mut opened = read_with(&decrypted_archive, sealed_with("tea")).unwrap();
    let tree_before = workspace::tree(&scratch.0.join("home"));
    assert_eq!(config(&opened), tree_before["config.toml"]);
    assert!(opened.parts.iter().any(|(i, b)| i.name == ".secret_key" && *b == tree_before[".secret_key"]));
    // A vault that has the secrets does not export them in the clear.
    write(&mut opened, &scratch.0.join("again.alf"));
    assert!(entries(&scratch.0.join("again.alf")).values().all(|b| !String::from_utf8_lossy(b).contains("sk-zc-01")));

    for words in [sealed_with("milk"), None] {
        let has_passphrase = words.is_some();
        let vault = read_with(&decrypted_archive, words).unwrap();
        assert!(!String::from_utf8(config(&vault)).unwrap().contains("sk-zc-01"));
        let closed_count = vault.notes.iter().filter(|n| n.code == "credential_closed").count();
        assert_eq!(closed_count, usize::from(has_passphrase), "reported once");
        let credential_count =
            vault.records.iter().filter(|r| r.kind == Kind::Credential && r.text == "zeroclaw").count();
        assert_eq!(credential_count, 1, "stored unchanged");
    }
}

#[test]
fn spec_8_3_whole_archive_is_encrypted() {
    let scratch = Scratch::new("8-3");
    let (archive, decrypted_archive) = sealed_home(&scratch);
    let bytes = std::fs::read(&archive).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n") && memchr::memmem::find(&bytes, b"manifest.json").is_none());
    let count_before = read(&decrypted_archive).unwrap().records.len();
    assert_eq!(
        read_with(&archive, sealed_with("tea")).unwrap().records.len(),
        count_before - 1,
        "credentials are opened too"
    );
    assert_eq!(code(read_with(&archive, None).err().unwrap()), "passphrase_needed");
    assert_eq!(code(read_with(&archive, sealed_with("milk")).err().unwrap()), "passphrase_wrong");
}

fn edit_text(vault: &mut MemorySource, from: &str, to: &str) {
    let at = vault.records.iter().position(|r| r.text.contains(from)).unwrap();
    vault.records[at].text = vault.records[at].text.replace(from, to);
    vault.edited.insert(at);
}

#[test]
fn archive_has_the_edited_text_and_not_the_old_one() {
    let scratch = Scratch::new("edit-travels");
    let archive = scratch.0.join("a.alf");
    let mut vault = workspace::read(&repo().join("fixtures/openclaw/workspace/input"), &OpenClaw);
    let old_text = vault.records.iter().find(|r| r.kind == Kind::Memory && r.text.len() > 12).unwrap().text.clone();
    edit_text(&mut vault, &old_text, "Moored at the north quay now.");
    write(&mut vault, &archive);
    for (name, bytes) in entries(&archive) {
        assert!(!String::from_utf8_lossy(&bytes).contains(&old_text), "{name} still contains the old text");
    }
    let mut reread = read(&archive).unwrap();
    workspace::write(&mut reread, &scratch.0.join("w"), &OpenClaw);
    let tree = workspace::tree(&scratch.0.join("w"));
    let contains = |words: &str| tree.values().any(|b| String::from_utf8_lossy(b).contains(words));
    assert!(contains("Moored at the north quay now.") && !contains(&old_text));
}

#[test]
fn applying_a_delta_removes_outdated_raw_files() {
    let scratch = Scratch::new("edit-by-delta");
    let path = |name: &str| scratch.0.join(name);
    let mut vault = workspace::read(&repo().join("fixtures/openclaw/workspace/input"), &OpenClaw);
    let old_text = vault.records.iter().find(|r| r.kind == Kind::Memory && r.text.len() > 12).unwrap().text.clone();
    write(&mut vault, &path("base.alf"));
    let raw_before = raw_files(&entries(&path("base.alf")), "openclaw");
    assert!(raw_before.values().any(|b| String::from_utf8_lossy(b).contains(&old_text)));

    edit_text(&mut vault, &old_text, "Moored at the north quay now.");
    let options = WriteOptions { everything: true, base: Some(path("base.alf")), ..WriteOptions::default() };
    AlfDelta.write(&mut vault, &path("one.alf-delta"), &options).unwrap();
    apply(&path("base.alf"), &[path("one.alf-delta")], &path("new.alf"), &Limits::default()).unwrap();
    assert_eq!(validate(&path("new.alf")).errors, []);
    let entries_after = entries(&path("new.alf"));
    for (name, bytes) in &entries_after {
        assert!(!String::from_utf8_lossy(bytes).contains(&old_text), "{name} still contains the old text");
    }
    assert!(entries_after.values().any(|b| String::from_utf8_lossy(b).contains("Moored at the north quay now.")));
    // Raw files that are not generated from records stay in the archive.
    assert!(!raw_files(&entries_after, "openclaw").is_empty() || raw_before.len() == 1);
}

#[test]
fn key_files_of_a_foreign_archive_are_not_exported_in_the_clear() {
    let scratch = Scratch::new("foreign-keys");
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    pack_folder(&repo().join("fixtures/alf/lossless/input"), &first_archive);
    let keys =
        ["raw/zeroclaw/.secret_key", "raw/openclaw/id_ecdsa", "raw/openclaw/tls.key", "raw/openclaw/config.json.bak"];
    let mut all_entries = entries(&first_archive);
    all_entries.extend(keys.map(|name| (name.to_owned(), b"{\"api_key\": \"sk-0123456789abcdefghij\"}".to_vec())));
    let files: Vec<(&str, &[u8])> = all_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    pack(&first_archive, &files);
    let mut vault = read(&first_archive).unwrap();
    let report = write(&mut vault, &second_archive);
    assert_eq!(report.losses.count("secret", LossKind::LeftOut), 4);
    assert!(entries(&second_archive).values().all(|b| !String::from_utf8_lossy(b).contains("sk-0123")));
}

/// The archive of the fixture `lossless` with additional files.
fn pack_with(path: &Path, more: &[(&str, &[u8])]) {
    pack_folder(&repo().join("fixtures/alf/lossless/input"), path);
    let mut all_entries = entries(path);
    all_entries.extend(more.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())));
    let files: Vec<(&str, &[u8])> = all_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    pack(path, &files);
}

#[test]
fn a_token_in_the_notes_of_the_manifest_is_not_exported_in_the_clear() {
    let scratch = Scratch::new("token-in-manifest");
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    pack_with(&first_archive, &[]);
    let manifest = String::from_utf8(entries(&first_archive)["manifest.json"].clone()).unwrap();
    let manifest = manifest.replace(r#""notes": null"#, &format!(r#""notes": "key {TOKEN}""#));
    pack_with(&first_archive, &[("manifest.json", manifest.as_bytes())]);
    assert!(validate(&first_archive).errors.iter().any(|issue| issue.code == "secret_in_the_clear"));

    let report = write(&mut read(&first_archive).unwrap(), &second_archive);
    assert!(validate(&second_archive).errors.iter().all(|issue| issue.code != "secret_in_the_clear"));
    assert_eq!(report.losses.count("secret", LossKind::LeftOut), 1);
    let manifest = String::from_utf8(entries(&second_archive)["manifest.json"].clone()).unwrap();
    assert!(manifest.contains("key <redacted>") && !manifest.contains(TOKEN), "{manifest}");
}

#[test]
fn a_secret_in_raw_is_reported_by_the_name_of_its_file_or_setting() {
    let scratch = Scratch::new("named-secrets");
    let archive = scratch.0.join("a.alf");
    let settings: &[u8] = b"[mail]\npassword = \"Lindwurm-auf-dem-Dach\"\n";
    let cases: [(&str, &[u8], bool); 4] = [
        ("raw/zeroclaw/config.toml", settings, true),
        ("raw/zeroclaw/.secret_key", b"0a1b2c3d4e5f6071\n", true),
        ("raw/zeroclaw/config.toml", b"[mail]\npassword = \"<redacted>\"\n", false),
        ("raw/zeroclaw/notes.txt", settings, false),
    ];
    for (name, bytes, is_reported) in cases {
        pack_with(&archive, &[(name, bytes)]);
        let warnings = validate(&archive).warnings;
        assert_eq!(warnings.iter().any(|issue| issue.code == "secret_in_the_clear"), is_reported, "{name}");
    }
}

#[test]
fn a_token_in_any_file_of_raw_is_not_exported_in_the_clear() {
    let scratch = Scratch::new("token-in-notes");
    let (first_archive, second_archive, third_archive) =
        (scratch.0.join("a.alf"), scratch.0.join("b.alf"), scratch.0.join("c.alf"));
    let text = format!("Deploy with {TOKEN}, then rest.\n");
    let binary = [b"\xff\xfe\x00", text.as_bytes()].concat();
    pack_with(&first_archive, &[("raw/openclaw/notes.txt", text.as_bytes()), ("raw/openclaw/image.bin", &binary)]);
    assert!(validate(&first_archive).errors.iter().any(|issue| issue.code == "secret_in_the_clear"));

    let mut vault = read(&first_archive).unwrap();
    let report = write(&mut vault, &second_archive);
    assert!(validate(&second_archive).errors.iter().all(|issue| issue.code != "secret_in_the_clear"));
    assert_eq!(report.losses.count("secret", LossKind::LeftOut), 2);
    let written_entries = entries(&second_archive);
    assert!(written_entries.values().all(|bytes| !String::from_utf8_lossy(bytes).contains(TOKEN)));
    assert_eq!(written_entries["raw/openclaw/notes.txt"], b"Deploy with <redacted>, then rest.\n");
    assert!(!written_entries.contains_key("raw/openclaw/image.bin"));

    // An encrypted archive contains both files with the token unchanged.
    let passphrase: Arc<dyn Passphrase> = Arc::new(FakeCipher("open"));
    let options = WriteOptions { everything: true, passphrase: Some(passphrase.clone()), ..WriteOptions::default() };
    let report = super::Alf.write(&mut vault, &third_archive, &options).unwrap();
    assert_eq!(report.losses.count("secret", LossKind::LeftOut), 0);
    let reread = read_with(&third_archive, Some(passphrase)).unwrap();
    let has = |name: &str, bytes: &[u8]| reread.parts.iter().any(|(item, b)| item.name == name && b == bytes);
    assert!(has("raw/openclaw/notes.txt", text.as_bytes()) && has("raw/openclaw/image.bin", &binary));
}

#[test]
fn a_token_in_a_file_of_a_workspace_is_not_exported_in_the_clear_and_the_export_is_valid() {
    let scratch = Scratch::new("token-in-workspace");
    let (folder, archive) = (scratch.0.join("w"), scratch.0.join("w.alf"));
    let text = format!("# Notes\n\nDeploy with {TOKEN}\n");
    let files = ["MEMORY.md", "TOOLS.md", "SOUL.md", "work/plan.txt"].map(|name| (name, text.as_bytes()));
    workspace::put(&folder, &files);
    let report = write(&mut workspace::read(&folder, &OpenClaw), &archive);
    assert_eq!(validate(&archive).errors, []);
    assert!(report.losses.count("secret", LossKind::LeftOut) >= 2);
    let written_entries = entries(&archive);
    assert!(
        written_entries
            .iter()
            .all(|(name, bytes)| { name.starts_with("memory/") || !String::from_utf8_lossy(bytes).contains(TOKEN) })
    );
}

#[test]
fn several_workspaces_in_one_archive_stay_separate() {
    let scratch = Scratch::new("several");
    let text = |words: &str| format!("## Notes\n{words}\n");
    for (name, sections, parts) in [("a", 5, 0), ("b", 2, 9)] {
        let path = scratch.0.join(name);
        let soul = format!("# Agent {name}\n");
        workspace::put(&path, &[("SOUL.md", soul.as_bytes()), ("AGENTS.md", b"# Rules\n")]);
        for n in 0..sections {
            let file = format!("memory/2026-01-{:02}.md", n + 1);
            workspace::put(&path, &[(&file, text(&format!("{name} {n}")).as_bytes())]);
        }
        for n in 0..parts {
            workspace::put(&path, &[(&format!("skills/{n}.sh"), name.as_bytes())]);
        }
    }
    let mut merged_vault = workspace::read(&scratch.0.join("a"), &OpenClaw);
    let second_workspace = workspace::read(&scratch.0.join("b"), &OpenClaw);
    merged_vault.records.extend(second_workspace.records);
    merged_vault.parts.extend(second_workspace.parts);
    let (archive, first_folder, second_folder) = (scratch.0.join("x.alf"), scratch.0.join("1"), scratch.0.join("2"));
    workspace::write(&mut merged_vault, &first_folder, &OpenClaw);
    write(&mut merged_vault, &archive);
    let mut reread = read(&archive).unwrap();
    let owners = |vault: &MemorySource| {
        let openclaw_parts = vault.parts.iter().filter(|(item, _)| item.format == "openclaw");
        openclaw_parts
            .map(|(item, bytes)| (item.group.clone(), item.name.clone(), bytes.clone()))
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(owners(&reread), owners(&merged_vault));
    workspace::write(&mut reread, &second_folder, &OpenClaw);
    assert_eq!(workspace::tree(&second_folder), workspace::tree(&first_folder));
}

#[test]
fn two_profiles_of_one_block_keep_their_texts() {
    let scratch = Scratch::new("two-souls");
    create_home(&scratch.0.join("home"));
    workspace::put(&scratch.0.join("home"), &[("SOUL.md", b"# Another\nBe stern.\n")]);
    let archive = scratch.0.join("a.alf");
    write(&mut workspace::read(&scratch.0.join("home"), &ZeroClaw), &archive);
    workspace::write(&mut read(&archive).unwrap(), &scratch.0.join("back"), &ZeroClaw);
    let tree = workspace::tree(&scratch.0.join("back"));
    assert_eq!(tree["SOUL.md"], b"# Another\nBe stern.\n");
    assert_eq!(tree["workspace/SOUL.md"], b"# Wren\nBe kind.\n");
}

/// `mementory.workspaces` is ignored if another program wrote the manifest, or if the records contradict it.
#[test]
fn workspace_statements_of_a_foreign_manifest_are_not_trusted() {
    let scratch = Scratch::new("forged-workspaces");
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write(&mut workspace::read(&repo().join("fixtures/openclaw/workspace/input"), &OpenClaw), &first_archive);
    let manifest = |change: fn(&mut Value)| {
        write_changed_copy(&first_archive, &second_archive, move |name, bytes| match name {
            "manifest.json" => {
                let mut manifest: Value = serde_json::from_slice(&bytes).unwrap();
                change(&mut manifest["mementory"]);
                manifest.to_string().into_bytes()
            }
            _ => bytes,
        });
        read(&second_archive).unwrap()
    };
    let foreign_manifest = manifest(|ours| ours["generated"] = json!(false));
    assert!(foreign_manifest.parts.iter().all(|(item, _)| item.format == "alf"), "its raw files stay with the archive");
    let with_false_digest = manifest(|ours| {
        let facts = std::fs::read(repo().join("fixtures/openclaw/workspace/input/memory/facts.db")).unwrap();
        ours["workspaces"]["openclaw"]["files"]["memory/facts.db"] = json!(crate::alf::sealed_secrets::sha256(&facts));
    });
    assert!(
        with_false_digest.parts.iter().any(|(item, _)| item.name.ends_with("memory/facts.db")),
        "a file without records is stored"
    );
    let with_other_scope = manifest(|ours| ours["workspaces"]["openclaw"]["scope"] = json!("openclawed"));
    assert!(with_other_scope.parts.iter().all(|(item, _)| item.format == "alf"));
}
