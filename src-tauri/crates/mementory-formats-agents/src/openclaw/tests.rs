//! Tests of round trips of workspaces (spec §10.2, §10.3), with unchanged files and with records of other formats.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::{OpenClaw, files, redact, sections};
use crate::detect;
use crate::testing::{put, read, tree, validate, write};
use mementory_format::Catalog;
use mementory_format::testkit::{MemorySource, Scratch, repo, shared};
use mementory_model::{Kind, Limits, LossKind, Record, RecordKey, Timestamp};
use std::collections::BTreeMap;

fn fixture() -> std::path::PathBuf {
    repo().join("fixtures/openclaw/workspace/input")
}

#[test]
fn spec_10_2_workspace_round_trip_is_byte_exact() {
    let scratch = Scratch::new("openclaw");
    let mut source = read(&fixture(), &OpenClaw);
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(fixture().parent().unwrap().join("case.json")).unwrap()).unwrap();
    let count = |kind: Kind| source.records.iter().filter(|r| r.kind == kind).count() as u64;
    assert_eq!(count(Kind::Memory), expected["records"]["memory"].as_u64().unwrap());
    assert_eq!(count(Kind::Profile), expected["records"]["profile"].as_u64().unwrap());
    let report = write(&mut source, &scratch.0.join("w"), &OpenClaw);
    let (mut before, mut after) = (tree(&fixture()), tree(&scratch.0.join("w")));
    let (settings, clean) = (before.remove("config.json").unwrap(), after.remove("config.json").unwrap());
    assert_eq!(before, after);
    assert!(String::from_utf8_lossy(&settings).contains("hunter2-not-real"));
    assert!(!String::from_utf8_lossy(&clean).contains("hunter2-not-real"));
    assert_eq!(report.losses.count("secret", LossKind::LeftOut), 1);
    assert_eq!(validate(&scratch.0.join("w"), &OpenClaw).errors, []);
    let keys: std::collections::BTreeSet<_> = source.records.iter().map(|r| (r.kind, r.key.value.clone())).collect();
    assert_eq!(keys.len(), source.records.len(), "keys are unique");
}

#[test]
fn each_file_is_read_as_its_record_type() {
    let source = read(&fixture(), &OpenClaw);
    let find = |text: &str| source.records.iter().find(|r| r.text.contains(text)).unwrap();
    let fact = find("Prefers tea");
    assert_eq!(
        (fact.title.as_deref(), fact.record_type.as_deref(), fact.namespace.as_deref()),
        (Some("Drinks"), Some("summary"), Some("curated"))
    );
    let day = find("rowing club");
    assert_eq!(day.record_type.as_deref(), Some("episodic"));
    assert_eq!(day.times.created, Timestamp::parse("2026-03-04T00:00:00Z"));
    assert_eq!(day.importance, Some(0.9));
    assert_eq!(day.tags, ["decision", "sport"]);
    assert_eq!(find("Working on the boat").title, None, "one record for the whole file");
    assert_eq!(find("Ask before paying").record_type.as_deref(), Some("procedural"));
    let person = find("Time zone: Europe/Vienna");
    assert_eq!((person.kind, person.title.as_deref()), (Kind::Profile, Some("Ida Fell")));
    assert_eq!(person.fields["timezone"], "Europe/Vienna");
    assert!(source.records.iter().all(|r| r.key.scope == "openclaw:0197f2a0-5555-7000-8000-00000000000c"));
}

#[test]
fn inserting_a_section_keeps_the_ids_of_the_others() {
    let scratch = Scratch::new("openclaw-ids");
    let keys = |text: &str, name: &str| {
        let workspace_path = scratch.0.join(name).join("w");
        put(&workspace_path, &[("SOUL.md", b"# A"), ("MEMORY.md", text.as_bytes())]);
        let source = read(&workspace_path, &OpenClaw);
        source
            .records
            .into_iter()
            .filter(|r| r.kind == Kind::Memory)
            .map(|r| (r.text, r.key.value))
            .collect::<BTreeMap<_, _>>()
    };
    let before = keys("# M\n\n## One\na\n\n## Two\nb\n", "1");
    let after = keys("# M\n\n## Zero\nz\n\n## One\na\n\n## Two\nb\n", "2");
    assert_eq!(before.len(), 2);
    assert!(before.iter().all(|(text, key)| after[text] == *key));
}

#[test]
fn an_edit_or_removal_changes_only_its_own_section() {
    let scratch = Scratch::new("openclaw-edit");
    let mut source = read(&fixture(), &OpenClaw);
    let at = source.records.iter().position(|r| r.text.contains("Prefers tea")).unwrap();
    source.records[at].text = "Prefers coffee.".into();
    source.edited.insert(at);
    let removed_position = source.records.iter().position(|r| r.text.contains("rowing club")).unwrap();
    let removed = source.records[removed_position].verbatim.clone().unwrap().text;
    source.records[removed_position] = Record::new(Kind::Todo, RecordKey::new("x", "y"), "");
    write(&mut source, &scratch.0.join("w"), &OpenClaw);
    let (before, after) = (tree(&fixture()), tree(&scratch.0.join("w")));
    let text = |files: &BTreeMap<String, Vec<u8>>, name: &str| String::from_utf8(files[name].clone()).unwrap();
    assert_eq!(
        text(&after, "MEMORY.md"),
        text(&before, "MEMORY.md").replace("Prefers tea without sugar.", "Prefers coffee.")
    );
    assert_eq!(text(&after, "memory/2026-03-04.md"), text(&before, "memory/2026-03-04.md").replace(&removed, ""));
}

#[test]
fn records_of_other_formats_survive_a_round_trip() {
    let scratch = Scratch::new("openclaw-foreign");
    let mut fact = Record::new(Kind::Memory, RecordKey::new("chatgpt", "bio-1"), "Has two cats.\n## and a dog");
    fact.source.platform = "chatgpt".into();
    fact.confidence = Some(0.5);
    let mut deleted = Record::new(Kind::Memory, RecordKey::new("chatgpt", "bio-2"), "Lives in Graz.");
    deleted.status = Some("deleted".into());
    let message = Record::new(Kind::Message, RecordKey::new("chatgpt", "m"), "hello");
    let mut source = MemorySource { records: vec![fact.clone(), deleted, message], ..MemorySource::default() };
    let report = write(&mut source, &scratch.0.join("w"), &OpenClaw);
    assert_eq!(report.losses.count("record", LossKind::LeftOut), 2);
    let written = BTreeMap::from([("memory".to_owned(), 1)]);
    assert_eq!(report.by_kind, written, "what is left out does not count as written");
    let files = tree(&scratch.0.join("w"));
    assert!(String::from_utf8_lossy(&files["memory/chatgpt.md"]).contains("Has two cats."));
    assert!(files.values().all(|b| !String::from_utf8_lossy(b).contains("Graz")), "a deleted memory is not written");
    let mut reread = read(&scratch.0.join("w"), &OpenClaw);
    let memories: Vec<_> = reread.records.iter().filter(|r| r.kind == Kind::Memory).cloned().collect();
    assert_eq!(memories, [fact]);
    write(&mut reread, &scratch.0.join("v"), &OpenClaw);
    assert_eq!(tree(&scratch.0.join("v")), files, "a second export gives the same files");
}

/// Memories of another program, one for each text.
fn foreign(namespace: Option<&str>, texts: &[&str]) -> Vec<Record> {
    let memory = |(n, text): (usize, &&str)| {
        let mut record = Record::new(Kind::Memory, RecordKey::new("chatgpt", format!("m{n}")), *text);
        record.source.platform = "chatgpt".into();
        record.namespace = namespace.map(Into::into);
        record.title = Some(format!("Title {n}"));
        record
    };
    texts.iter().enumerate().map(memory).collect()
}

/// Writes the records of `source` and reads back the records of the other program, in the order of their keys.
fn reread_foreign(scratch: &Scratch, source: &mut MemorySource) -> Vec<Record> {
    write(source, &scratch.0.join("out"), &OpenClaw);
    let reread = read(&scratch.0.join("out"), &OpenClaw);
    let mut foreign: Vec<Record> = reread.records.into_iter().filter(|r| r.key.scope == "chatgpt").collect();
    foreign.sort_by(|a, b| a.key.value.cmp(&b.key.value));
    foreign
}

#[test]
fn no_text_of_another_format_absorbs_the_next() {
    let scratch = Scratch::new("openclaw-fences");
    let texts = [
        "```sh\nnever closed",
        "~~~~\nanother one\n## heading",
        "```\n## in code\n```\n## outside",
        "  ```\nindented",
        "```\n~~~\n```",
        "words",
    ];
    let records = foreign(None, &texts);
    let mut source = MemorySource { records: records.clone(), ..MemorySource::default() };
    assert_eq!(reread_foreign(&scratch, &mut source), records);
    let text = String::from_utf8(tree(&scratch.0.join("out"))["memory/chatgpt.md"].clone()).unwrap();
    assert!(text.contains("```\n## in code\n```\n### outside"), "{text}");
}

#[test]
fn no_file_of_the_workspace_absorbs_texts_of_other_formats() {
    for (namespace, path, content) in [
        ("curated", "MEMORY.md", "## Code\n\n```sh\nnever closed\n"),
        ("curated", "MEMORY.md", "# Title alone\n"),
        ("active-context", "memory/active-context.md", "Working on the boat.\n"),
    ] {
        let scratch = Scratch::new("openclaw-absorbs");
        put(&scratch.0.join("w"), &[("SOUL.md", b"# A"), (path, content.as_bytes())]);
        let mut source = read(&scratch.0.join("w"), &OpenClaw);
        let records = foreign(Some(namespace), &["First.", "Second."]);
        source.records.extend(records.clone());
        assert_eq!(reread_foreign(&scratch, &mut source), records, "{path}");
        assert_eq!(tree(&scratch.0.join("out"))[path], content.as_bytes());
    }
}

#[test]
fn spec_10_3_raw_files_of_an_alf_are_written_unchanged() {
    let scratch = Scratch::new("openclaw-raw");
    let item = |name: &str| mementory_format::PassthroughItem {
        format: "alf".into(),
        group: "a".into(),
        name: name.into(),
        role: "raw".into(),
        place: String::new(),
    };
    let mut line = Record::new(Kind::Memory, RecordKey::new("alf:a", "1"), "A fact.");
    line.origin.format = "alf".into();
    line.source.platform = "openclaw".into();
    line.fields.insert("origin_file".into(), "MEMORY.md".into());
    let mut source = MemorySource { records: vec![line], ..MemorySource::default() };
    source.parts = vec![
        (item("raw/openclaw/SOUL.md"), b"# S".to_vec()),
        (item("raw/openclaw/MEMORY.md"), b"## F\r\nA fact.\r\n".to_vec()),
        (item("raw/openclaw/../../escape.md"), b"x".to_vec()),
        (item("raw/zeroclaw/config.toml"), b"x".to_vec()),
    ];
    let report = write(&mut source, &scratch.0.join("w"), &OpenClaw);
    let files = tree(&scratch.0.join("w"));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["MEMORY.md", "SOUL.md"]);
    assert_eq!(files["MEMORY.md"], b"## F\r\nA fact.\r\n");
    assert_eq!(report.losses.count("file", LossKind::LeftOut), 1, "a path that leads outside the folder");
    assert!(!scratch.0.join("escape.md").exists());
}

#[test]
fn official_workspaces_are_written_back_unchanged() {
    for name in ["standard", "minimal", "community-patterns", "empty"] {
        let Some(path) = shared(&format!("reference/alf/openclaw-workspaces/{name}")) else { return };
        let scratch = Scratch::new(&format!("official-{name}"));
        write(&mut read(&path, &OpenClaw), &scratch.0.join("w"), &OpenClaw);
        assert_eq!(tree(&path), tree(&scratch.0.join("w")), "{name}");
    }
}

#[test]
fn coding_projects_are_not_detected_as_workspaces() {
    let scratch = Scratch::new("openclaw-none");
    put(&scratch.0.join("p"), &[("AGENTS.md", b"# Rules\n"), ("README.md", b"# P\n"), ("memory/notes.md", b"x\n")]);
    // A `memory` folder with a MEMORY.md contains a coding assistant's notes, so it is not a workspace.
    put(&scratch.0.join("q/projects/x/memory"), &[("MEMORY.md", b"# Memory\n"), ("style.md", b"x\n")]);
    for name in ["p", "q"] {
        let limits = Limits::default();
        let catalog = Catalog::open(&[scratch.0.join(name)], &limits, None).unwrap();
        let sources = detect(&catalog, &limits, None).unwrap().sources;
        assert!(sources.iter().all(|s| s.format != "openclaw"), "{name}");
    }
}

#[test]
fn folders_of_notes_inside_a_project_are_workspaces_and_the_project_is_not() {
    let scratch = Scratch::new("openclaw-mixed");
    let notes: &[(&str, &[u8])] = &[("MEMORY.md", b"# Mine\n"), ("memory/tides.md", b"x\n")];
    for folder in ["all/project", "all/notes/inner"] {
        put(&scratch.0.join(folder), notes);
    }
    put(&scratch.0.join("all/project"), &[("src/deep/main.py", b"x\n")]);
    let limits = Limits::default();
    let catalog = Catalog::open(&[scratch.0.join("all")], &limits, None).unwrap();
    let sources = detect(&catalog, &limits, None).unwrap().sources;
    let parts = sources.iter().filter(|s| s.format == "openclaw").flat_map(|s| &s.claim.parts);
    let mut names: Vec<&str> = parts.map(|part| catalog.members()[part.member].name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["notes/inner/MEMORY.md", "notes/inner/memory/tides.md"]);
}

#[test]
fn frontmatter_states_times_and_is_not_text() {
    let scratch = Scratch::new("openclaw-frontmatter");
    let tides = "---\ntype: note\ncreated: 2026-02-01\nupdated: 2026-02-03T10:00:00Z\n---\n# Tides\n\n## High\nAt noon.\n## Low\nAt six.\n";
    let moon = "---\ndate: 2026-02-04T08:00:00+01:00\n---\nThe moon is full.\n";
    let bare = "---\ncreated: 2026-02-05\n---\n";
    let rule = "---\n\nNo frontmatter\n\n---\n\n## Then\nA rule.\n";
    let soul = "---\ncreated: 2026-01-01\n---\n# Soul\n";
    put(
        &scratch.0.join("w"),
        &[
            ("SOUL.md", soul.as_bytes()),
            ("memory/tides.md", tides.as_bytes()),
            ("memory/2026-02-02.md", moon.as_bytes()),
            ("memory/bare.md", bare.as_bytes()),
            ("memory/rule.md", rule.as_bytes()),
        ],
    );
    let mut source = read(&scratch.0.join("w"), &OpenClaw);
    let times = |text: &str| {
        let record = source.records.iter().find(|r| r.text == text).expect(text);
        (record.times.created, record.times.updated)
    };
    let time = Timestamp::parse;
    for text in ["At noon.", "At six."] {
        assert_eq!(times(text), (time("2026-02-01T00:00:00Z"), time("2026-02-03T10:00:00Z")), "{text}");
    }
    assert_eq!(times("The moon is full."), (time("2026-02-04T07:00:00Z"), None));
    assert_eq!(times(bare.trim()).0, time("2026-02-05T00:00:00Z"));
    assert_eq!(times("A rule."), (None, None));
    assert_eq!(times(soul.trim()).0, time("2026-01-01T00:00:00Z"));
    assert_eq!(source.records.len(), 7);
    write(&mut source, &scratch.0.join("out"), &OpenClaw);
    assert_eq!(tree(&scratch.0.join("w")), tree(&scratch.0.join("out")));
    let at = source.records.iter().position(|r| r.text == "The moon is full.").unwrap();
    source.records[at].text = "The moon is new.".into();
    source.edited.insert(at);
    write(&mut source, &scratch.0.join("edited"), &OpenClaw);
    let written = tree(&scratch.0.join("edited"));
    assert_eq!(written["memory/2026-02-02.md"], moon.replace("full", "new").as_bytes());
}

#[test]
fn joined_sections_are_the_original_file() {
    for text in [
        "",
        "a",
        "## a",
        "# t\n## a\nb\n## c",
        "x\n\n## a\r\nb\r\n\r\n## c\r\n",
        "```\n## no\n```\n## yes\n",
        "\n\n## a\n",
        "---\na: 1\n---\n",
        "---\na: 1\n---\nb\n",
        "---\n## a: 1\nb: 2\n---\n# t\n## a\n",
        "---\na\n---\n## a\n",
    ] {
        let pieces = sections::split_sections(text);
        assert_eq!(pieces.concat(), text);
        for piece in pieces {
            let section = sections::parse_section(piece, false);
            let (heading, body) = (section.heading.map(|h| piece[h].to_owned()), piece[section.body].to_owned());
            assert_eq!(sections::replace_parts(piece, false, heading.as_deref(), &body), piece);
        }
    }
    assert_eq!(sections::split_sections("```\n## no\n```\n").len(), 1);
    assert!(
        !files::is_safe("../a") && !files::is_safe("/a") && !files::is_safe("a/../b") && files::is_safe("memory/a.md")
    );
}

#[test]
fn secrets_are_redacted_in_every_syntax() {
    let secret = "Zm9vYmFyYmF6cXV4";
    for (text, count) in [
        (format!("api_key = \"{secret}\"\n"), 1),
        (format!("a = {{ name = \"x\", bot_token = '{secret}' }}\n"), 1),
        (format!("private_key = \"\"\"\nline {secret}\nmore\n\"\"\"\nname = \"kept\"\n"), 1),
        (format!("[channels.secrets]\nmain = \"{secret}\"\n"), 1),
        (format!("{{\"auth\": {{\"accessToken\": \"{secret}\"}}, \"n\": 1}}"), 1),
        (format!("password: {secret}\nname: kept\n"), 1),
        (format!("export OPENAI_API_KEY={secret}\n"), 1),
        (format!("tokens = [\"{secret}\", \"b\"]\n"), 1),
        (format!("client_secret: |\n  {secret}\n  {secret}\nname: kept\n"), 1),
        (format!("url = \"https://hooks.slack.com/services/T0/B0/{secret}\"\n"), 1),
        (format!("db = \"postgres://me:{secret}@host/db\"\n"), 1),
        (format!("note = \"sk-{secret}{secret}\"\n"), 1),
        (format!("note = \"eyJhbGciOi{secret}\"\n"), 1),
        (format!("x = '''-----BEGIN RSA PRIVATE KEY-----\n{secret}\n-----END RSA PRIVATE KEY-----'''\n"), 1),
    ] {
        let (redacted, n) = redact::redact(&text);
        assert!(!redacted.contains(secret), "{text} -> {redacted}");
        assert!(n >= count, "{text}");
        assert_eq!(redacted.contains("kept"), text.contains("kept"), "{redacted}");
        assert_eq!(redact::redact(&redacted), (redacted.clone(), 0), "redacting twice changes nothing");
    }
    for text in [
        "max_tokens = 4096\ntokenizer = \"cl100k\"\nmodel = \"gpt\"\n",
        "api_key = \"enc2:00ff\"\npassword = \"\"\ntoken = \"${TOKEN}\"\n",
        "url = \"https://example.org/a?b=c\"\ntime: 10:20\n",
        "key = \"value\"\nauthor = \"Ida\"\n",
        "note = \"npm_config_registry_4873\"\n",
    ] {
        assert_eq!(redact::redact(text), (text.to_owned(), 0));
    }
}

/// True if the files are detected as a workspace.
fn is_workspace(scratch: &Scratch, name: &str, files: &[(&str, &[u8])]) -> bool {
    put(&scratch.0.join(name), files);
    let limits = Limits::default();
    let catalog = Catalog::open(&[scratch.0.join(name)], &limits, None).unwrap();
    let sources = detect(&catalog, &limits, None).unwrap().sources;
    sources.iter().any(|source| source.format == "openclaw")
}

#[test]
fn a_workspace_without_an_identity_is_detected_by_two_of_its_files() {
    let scratch = Scratch::new("openclaw-marks");
    let (user, tools) =
        (b"# USER.md - About Your Human\n\n- **Name:** Ida\n", b"# TOOLS.md - Local Notes\n\nThe scanner.\n");
    let (memory, note) = (b"# MEMORY.md\n\n## Boats\n\nRows.\n", b"# People\n\n## Odd\n\nA cousin.\n");
    let rules = b"# AGENTS.md\n\nRead SOUL.md, then memory/YYYY-MM-DD.md of today.\n";
    assert!(is_workspace(&scratch, "1", &[("USER.md", user), ("TOOLS.md", tools)]));
    assert!(is_workspace(&scratch, "2", &[("USER.md", user), ("MEMORY.md", memory), ("memory/people.md", note)]));
    assert!(is_workspace(&scratch, "3", &[("AGENTS.md", rules), ("HEARTBEAT.md", b"# HEARTBEAT.md\n")]));
    assert!(is_workspace(&scratch, "4", &[("MEMORY.md", memory), ("memory/2026-02-03-ferry.md", note)]));
    let labels = b"- Name: Ida\n- Timezone: Europe/Oslo\n";
    assert!(is_workspace(&scratch, "5", &[("USER.md", labels), ("IDENTITY.md", b"- Name: Wren\n- Vibe: dry\n")]));

    assert!(!is_workspace(&scratch, "6", &[("USER.md", user), ("notes.md", note)]));
    assert!(!is_workspace(&scratch, "7", &[("USER.md", b"# User guide\n"), ("TOOLS.md", b"# Tools and links\n")]));
    // A folder that contains only notes is a workspace. A project that also has other files is not.
    let notes: [(&str, &[u8]); 3] = [("MEMORY.md", memory), ("memory/people.md", note), ("memory/a/b.md", note)];
    assert!(is_workspace(&scratch, "8", &notes));
    assert!(!is_workspace(&scratch, "10", &[notes[0], notes[1], ("setup.py", b"print()\n")]));
    assert!(!is_workspace(&scratch, "9", &[("AGENTS.md", b"# AGENTS.md\n\nUse tabs.\n"), ("TOOLS.md", tools)]));
}

#[test]
fn notes_without_a_day_are_facts_and_notes_about_sessions_have_their_day() {
    let scratch = Scratch::new("openclaw-undated");
    let session = b"# Session: 2026-02-03 14:30:00 UTC\n\n- **Source**: chat\n\n## Summary\n\nBooked the ferry.\n";
    let files: [(&str, &[u8]); 4] = [
        ("USER.md", b"# USER.md\n\n- **Name:** Ida Fell\n"),
        ("MEMORY.md", b"# MEMORY.md\n\n## Boats\n\nRows each Friday.\n"),
        ("memory/people.md", b"# People\n\n## Odd\n\nA cousin in Oslo.\n"),
        ("memory/2026-02-03-ferry.md", session),
    ];
    put(&scratch.0.join("w"), &files);
    let source = read(&scratch.0.join("w"), &OpenClaw);
    let find = |text: &str| source.records.iter().find(|r| r.text.contains(text)).unwrap();
    let kind_of = |r: &Record| (r.record_type.clone().unwrap(), r.namespace.clone().unwrap_or_default());
    assert_eq!((find("Ida Fell").kind, find("Ida Fell").record_type.as_deref()), (Kind::Profile, Some("user_profile")));
    assert_eq!(kind_of(find("Rows each")), ("summary".into(), "curated".into()));
    assert_eq!(kind_of(find("cousin")), ("semantic".into(), "workspace".into()));
    assert_eq!(find("cousin").times.created, None);
    assert_eq!(kind_of(find("ferry")), ("episodic".into(), "session".into()));
    assert_eq!(find("ferry").times.created, Timestamp::parse("2026-02-03T00:00:00Z"));
    for (path, day) in [
        ("memory/2026-02-03-ferry.md", Some("2026-02-03")),
        ("memory/2026-02-03_1430.md", Some("2026-02-03")),
        ("memory/2026-02-03.md", None),
        ("memory/2026-02-03-.md", None),
        ("memory/2026-13-03-x.md", None),
        ("memory/archive/2026-02-03-x.md", None),
        ("memory/ärger-im-büro-heute.md", None),
    ] {
        assert_eq!(files::session_day(path), day, "{path}");
    }
}

#[test]
fn notes_in_utf16_are_read_as_text() {
    let scratch = Scratch::new("openclaw-utf16");
    let utf16 = |text: &str| -> Vec<u8> {
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let (user, memory) = (utf16("# USER.md\n\n- **Name:** Ida\n"), utf16("# MEMORY.md\n\n## Boats\n\nRows to Ærø.\n"));
    let files: [(&str, &[u8]); 3] =
        [("USER.md", &user), ("MEMORY.md", &memory), ("memory/people.md", b"## Odd\n\nA cousin.\n")];
    assert!(is_workspace(&scratch, "w", &files));
    let source = read(&scratch.0.join("w"), &OpenClaw);
    assert!(source.records.iter().any(|record| record.kind == Kind::Memory && record.text.contains("Rows to Ærø.")));
    assert_eq!(source.notes.iter().filter(|note| note.code == "utf16").count(), 2);
    assert!(source.dropped.is_empty(), "{:?}", source.dropped);
}
