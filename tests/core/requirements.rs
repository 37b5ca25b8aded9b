//! Requirements of `.mem` that only a store can meet (specification v1.1 §4–§6), one test each, with complete bundles.
//! L0 to L3 in the names are the conformance levels of §8. Requirements for the file alone are tested in the format's
//! `mem/tests/requirements.rs`.
use crate::source::*;
use mementory_formats::{Catalog, Validation, by_id, detect, file_sha256};
use mementory_model::{Kind, Limits, TombstoneOp};
use mementory_testkit::{TempVault, at, contains_text, repo};
use mementory_vault::{
    EditFields, EraseOutcome, EvidencePackOptions, ExportOutcome, ExportRun, ListQuery, RedactSpan,
    RowView, Scope, VaultError,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// A copy of a fixture's bundle that a test may change.
pub struct Bundle {
    _folder: tempfile::TempDir,
    pub at: PathBuf,
}

impl Bundle {
    pub fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("b.mem");
        let from = repo().join("fixtures/mem").join(name).join("input.mem");
        for file in files(&from) {
            let to = at.join(file.strip_prefix(&from).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(&file, to).unwrap();
        }
        Self {
            _folder: folder,
            at,
        }
    }

    /// Changes one file of the bundle, and updates the manifest and checksums to match.
    pub fn with(self, file: &str, change: impl Fn(&str) -> String) -> Self {
        let path = self.at.join(file);
        let text = change(&std::fs::read_to_string(&path).unwrap());
        std::fs::write(&path, &text).unwrap();
        let read = |name: &str| std::fs::read_to_string(self.at.join(name)).unwrap();
        let mut manifest: Value = serde_json::from_str(&read("manifest.json")).unwrap();
        let mut sums = String::new();
        for row in manifest["files"].as_array_mut().unwrap() {
            let name = row["path"].as_str().unwrap().to_owned();
            let digest = file_sha256(&self.at.join(&name)).unwrap();
            row["bytes"] = json!(self.at.join(&name).metadata().unwrap().len());
            row["sha256"] = json!(digest);
            sums += &format!("{digest}  {name}\n");
        }
        std::fs::write(self.at.join("CHECKSUMS"), sums).unwrap();
        manifest["bundleDigest"] = json!(file_sha256(&self.at.join("CHECKSUMS")).unwrap());
        std::fs::write(self.at.join("manifest.json"), manifest.to_string()).unwrap();
        self
    }

    /// The bundle `all-kinds` with its tombstone changed to this operation and target.
    pub fn deleting(op: &str, kind: &str, id: &str) -> Self {
        Self::of("all-kinds").with("audit/tombstones.jsonl", |line| {
            let mut tombstone: Value = serde_json::from_str(line).unwrap();
            tombstone["id"] = json!(format!("tomb_{op}_{kind}"));
            tombstone["op"] = json!(op);
            tombstone["targetKind"] = json!(kind);
            tombstone["targetID"] = json!(id);
            tombstone["derived"]["factIDs"] = json!([]);
            format!("{tombstone}\n")
        })
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut out, mut pending) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

pub fn import(t: &TempVault, bundle: &Bundle) {
    t.import(std::slice::from_ref(&bundle.at)).unwrap();
}

fn export(t: &TempVault, name: &str, since: Option<i64>) -> ExportOutcome {
    let mut scope = Scope {
        everything: true,
        ..Scope::default()
    };
    scope.writing.since = since.map(at);
    let out = t.folder.path().join(name);
    let run = ExportRun {
        scope: &scope,
        now: at(500),
        cancel: &AtomicBool::new(false),
        progress: &|_, _| (),
    };
    let done = t.vault.exporter().export("mem", &out, false, run).unwrap();
    assert_eq!(done.validation.errors, [], "{name}");
    done.value
}

/// Returns every record that is not in the Trash, by kind and key.
pub fn records_by_key(t: &TempVault) -> BTreeMap<(String, String), Value> {
    let page = t
        .vault
        .queries()
        .list(&ListQuery {
            limit: 500,
            ..ListQuery::default()
        })
        .unwrap();
    let name_and_record = |row: RowView| {
        let record = t.vault.reader().record(&row).unwrap();
        let name = (record.kind.as_str().to_owned(), record.key.value.clone());
        (name, serde_json::to_value(record).unwrap())
    };
    page.rows.into_iter().map(name_and_record).collect()
}

pub fn has_record(t: &TempVault, key: &str) -> bool {
    records_by_key(t).keys().any(|(_, value)| value == key)
}

fn validated(bundle: &Path) -> Validation {
    let limits = Limits::default();
    let catalog = Catalog::open(&[bundle.to_path_buf()], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, Some("mem")).unwrap();
    by_id("mem")
        .unwrap()
        .validate(&catalog, &detection.sources[0], &limits, &[])
        .unwrap()
}

/// §4 Export, §8 L0.
#[test]
fn l0_an_export_is_valid_and_the_same_each_time() {
    for name in ["small", "all-kinds", "every-field"] {
        let t = TempVault::new();
        import(&t, &Bundle::of(name));
        let (first, second) = (export(&t, "1.mem", None), export(&t, "2.mem", None));
        assert_eq!(first.digest, second.digest, "{name}: deterministic order");
    }
}

/// §4 Export: incremental.
#[test]
fn l0_an_incremental_export_is_marked_and_leaves_out_older_records() {
    let t = TempVault::new();
    import(&t, &Bundle::of("all-kinds"));
    let done = export(&t, "since.mem", Some(1000));
    assert_eq!(done.validation.kind.as_deref(), Some("incremental"));
    assert!(
        !done.path.join("items/episode.jsonl").exists(),
        "both are older"
    );
}

/// §4 Import, §4.1 Idempotency.
#[test]
fn l1_importing_again_changes_nothing() {
    for name in ["small", "all-kinds", "every-field"] {
        let t = TempVault::new();
        import(&t, &Bundle::of(name));
        let (before, digest) = (records_by_key(&t), export(&t, "1.mem", None).digest);
        let second_copy = Bundle::of(name);
        let report = t
            .import(std::slice::from_ref(&second_copy.at))
            .unwrap()
            .total();
        assert_eq!((report.added, report.updated), (0, 0), "{name}");
        assert_eq!(records_by_key(&t), before, "{name}");
        assert_eq!(export(&t, "2.mem", None).digest, digest, "{name}");
    }
}

/// §4 step 1: if any byte of any file is changed, nothing is imported.
#[test]
fn l1_a_bundle_that_does_not_verify_is_not_imported() {
    let t = TempVault::new();
    let bundle = Bundle::of("all-kinds");
    for file in files(&bundle.at) {
        let bytes = std::fs::read(&file).unwrap();
        let mut changed = bytes.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        std::fs::write(&file, changed).unwrap();
        assert!(
            t.import(std::slice::from_ref(&bundle.at)).is_err(),
            "{}",
            file.display()
        );
        assert_eq!(records_by_key(&t).len(), 0, "{}", file.display());
        assert_eq!(
            t.vault.audit().tombstones().unwrap().len(),
            0,
            "{}",
            file.display()
        );
        std::fs::write(&file, bytes).unwrap();
    }
    import(&t, &bundle);
    assert!(!records_by_key(&t).is_empty(), "the control");
}

/// §4 step 4: imported records are searchable like records that were written in this vault.
#[test]
fn l1_imported_records_are_searchable() {
    let t = TempVault::new();
    import(&t, &Bundle::of("all-kinds"));
    assert!(hit_count(&t, "green tea") >= 2 && hit_count(&t, "lease") >= 1);
    let t = t.reopen();
    assert!(hit_count(&t, "green tea") >= 2);
}

/// §4.1 Merge key: records with the same id are the same record, and the newer text replaces the older one.
#[test]
fn l1_records_merge_by_their_key() {
    let t = TempVault::new();
    import(&t, &Bundle::of("all-kinds"));
    // The header of each bundle is stored as a record of its own, so it is not compared.
    let rows = || {
        records_by_key(&t)
            .into_keys()
            .filter(|(kind, _)| kind != "foreign")
            .collect::<Vec<_>>()
    };
    let before = rows();
    let edited = Bundle::of("all-kinds")
        .with("items/episode.jsonl", |text| {
            text.replace("never coffee", "now and then coffee")
        })
        .with("items/category.jsonl", |text| {
            text.replace("What is eaten", "All that is eaten")
        })
        .with("items/preference.jsonl", |text| {
            text.replace("metric", "imperial")
        })
        .with("items/episodeLink.jsonl", |text| {
            text.replace("\"weight\":0.5", "\"weight\":0.75")
        });
    import(&t, &edited);
    assert_eq!(rows(), before, "nothing is there twice");
    assert_eq!(hit_count(&t, "\"now and then coffee\""), 1);
    let text =
        serde_json::to_string(&records_by_key(&t).into_values().collect::<Vec<_>>()).unwrap();
    assert!(
        text.contains("imperial") && text.contains("All that is eaten") && text.contains("0.75")
    );
}

/// §4.1 Supersession: both rows stay, and an older bundle does not reopen the closed row.
#[test]
fn l1_a_bitemporal_update_supersedes() {
    let open = || {
        Bundle::of("all-kinds")
            .with("items/fact.jsonl", |text| {
                text.replace("\"supersededBy\":\"fact_1\",", "")
            })
            .with("items/edge.jsonl", |text| {
                text.replace(",\"tValidTo\":\"2026-03-01T00:00:00Z\"", "")
            })
    };
    let t = TempVault::new();
    import(&t, &open());
    assert_eq!(live_records(&t, Kind::Fact).len(), 2);
    let closed = |t: &TempVault| {
        let fact = live_records(t, Kind::Fact)
            .into_iter()
            .find(|(_, r)| r.key.value == "fact/fact_2")
            .unwrap()
            .1;
        let edge = live_records(t, Kind::Relation)
            .into_iter()
            .find(|(_, r)| r.key.value == "edge/edge_1")
            .unwrap()
            .1;
        (
            fact.links.iter().any(|l| l.relation == "superseded_by"),
            edge.times.valid_to.is_some(),
        )
    };
    assert_eq!(closed(&t), (false, false));
    import(&t, &Bundle::of("all-kinds"));
    assert_eq!(closed(&t), (true, true));
    import(&t, &open());
    assert_eq!(closed(&t), (true, true), "a stale bundle reopens nothing");
    assert_eq!(live_records(&t, Kind::Fact).len(), 2, "both rows");
}

/// One row of the fixture for each kind, as (kind, id, key of its record in the vault).
const ROW_OF_EACH_KIND: [(&str, &str, &str); 16] = [
    ("episode", "ep_tea", "episode/ep_tea"),
    ("entity", "ent_ada", "entity/ent_ada"),
    ("edge", "edge_1", "edge/edge_1"),
    ("fact", "fact_2", "fact/fact_2"),
    ("resource", "res_1", "resource/res_1"),
    ("chunk", "chunk_1", "chunk/chunk_1"),
    ("core", "human", "core/human"),
    ("procedure", "proc_1", "procedure/proc_1"),
    ("context", "ctx_old", "context/ctx_old"),
    ("community", "com_1", "community/com_1"),
    ("category", "food", "category/food"),
    ("preference", "units", "preference/units"),
    ("secretRef", "sec_1", "secretRef/sec_1"),
    // The id of a link consists of its two ends and its relation.
    (
        "factLink",
        "fact_1|fact_2|refines",
        "factLink/fact_1|fact_2|refines",
    ),
    (
        "episodeLink",
        "ep_move|ep_tea|before",
        "episodeLink/ep_move|ep_tea|before",
    ),
    // A vendor's own kind.
    ("acmeNote", "n1", "acmeNote/n1"),
];

/// §4.1 and §5, for every kind: a deleted row is never imported, neither from the bundle that contains both the row and
/// its deletion, nor from any later bundle.
#[test]
fn l2_nothing_that_was_deleted_comes_back() {
    for (kind, id, key) in ROW_OF_EACH_KIND {
        let t = TempVault::new();
        import(&t, &Bundle::deleting("delete", kind, id));
        assert!(
            !has_record(&t, key),
            "{kind}: the row is in the bundle that deletes it"
        );
        import(&t, &Bundle::of("all-kinds"));
        assert!(!has_record(&t, key), "{kind}: a stale bundle");
        assert!(records_by_key(&t).len() > 5, "{kind}: the others are there");
    }
}

/// §5: a deletion also removes records that are already in the vault.
#[test]
fn l2_a_deletion_removes_records_imported_before() {
    for (kind, id, key) in ROW_OF_EACH_KIND {
        let t = TempVault::new();
        import(&t, &Bundle::of("all-kinds"));
        assert!(has_record(&t, key), "{kind}: the control");
        import(&t, &Bundle::deleting("delete", kind, id));
        assert!(!has_record(&t, key), "{kind}");
    }
}

/// §5 Redact: the words are removed, and the tombstone stays and is exported.
#[test]
fn l2_a_redaction_removes_the_words_and_keeps_its_tombstone() {
    let t = TempVault::new();
    import(&t, &Bundle::deleting("redact", "episode", "ep_tea"));
    assert_eq!(hit_count(&t, "\"never coffee\""), 0);
    import(&t, &Bundle::of("all-kinds"));
    assert_eq!(hit_count(&t, "\"never coffee\""), 0, "a stale bundle");
    assert!(!contains_text(&t.decrypted(), "never coffee"), "on no page");
    let tombstones = t.vault.audit().tombstones().unwrap();
    assert!(
        tombstones
            .iter()
            .any(|s| s.op == TombstoneOp::Redact && s.target == "ep_tea")
    );
    let done = export(&t, "out.mem", None);
    let text = std::fs::read_to_string(done.path.join("audit/tombstones.jsonl")).unwrap();
    assert!(text.contains("\"op\":\"redact\"") && text.contains("\"targetID\":\"ep_tea\""));
}

/// §5 Conformance probe: after a deletion no query returns the content, and the export contains a tombstone.
#[test]
fn l2_after_a_deletion_no_query_returns_the_content() {
    let t = TempVault::new();
    import(&t, &Bundle::of("all-kinds"));
    let (row, record) = live_records(&t, Kind::Memory)
        .into_iter()
        .find(|(_, r)| r.key.value == "episode/ep_tea")
        .unwrap();
    let id = row.id_text();
    t.vault
        .editor()
        .edit(
            &id,
            EditFields {
                text: Some(format!("{} And rooibos.", record.text)),
                ..EditFields::default()
            },
            at(90),
        )
        .unwrap();
    let done = erase(&t, &id, "test", 100);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    for words in ["\"never coffee\"", "rooibos"] {
        assert_eq!(hit_count(&t, words), 0, "full text: {words}");
    }
    assert!(!has_record(&t, "episode/ep_tea"), "lists");
    assert!(
        !has_record(&t, "fact/fact_1") && !has_record(&t, "fact/fact_2"),
        "facts derived from it"
    );
    assert!(
        matches!(
            t.vault.reader().view(&id),
            Err(VaultError::NotFound { erased: true, .. })
        ),
        "by id, and its history"
    );
    for (view, _) in Kind::ALL
        .into_iter()
        .flat_map(|kind| live_records(&t, kind))
    {
        let links = t.vault.reader().links(&view).unwrap();
        assert!(links.iter().all(|l| l.target != id), "the graph");
    }
    assert!(!contains_text(&t.decrypted(), "never coffee"), "any page");
    let bundle = export(&t, "out.mem", None);
    for file in files(&bundle.path) {
        assert!(
            !contains_text(&std::fs::read(&file).unwrap(), "never coffee"),
            "{}",
            file.display()
        );
    }
    let tombstones = std::fs::read_to_string(bundle.path.join("audit/tombstones.jsonl")).unwrap();
    let tombstone = tombstones
        .lines()
        .find(|l| l.contains("\"ep_tea\""))
        .expect("a portable tombstone");
    assert!(
        tombstone.contains("fact_1") && tombstone.contains("fact_2"),
        "with its reach: {tombstone}"
    );

    // Another vault imports the old bundle first and then the new bundle, which must remove the record there too.
    let other = TempVault::new();
    import(&other, &Bundle::of("all-kinds"));
    other.import(std::slice::from_ref(&bundle.path)).unwrap();
    assert_eq!(hit_count(&other, "\"never coffee\""), 0, "a replica");
}

/// §6: the audit trail lists every change with time, actor, operation, target and reason.
#[test]
fn l3_every_mutation_is_in_the_audit_trail() {
    let t = TempVault::new();
    let vault = &t.vault;
    let before = vault.audit().entries().unwrap().len();
    import(&t, &Bundle::of("all-kinds"));
    let id = vault
        .editor()
        .add("Walks by the weir each morning.", None, vec![], at(70))
        .unwrap()
        .value;
    vault
        .editor()
        .edit(
            &id,
            EditFields {
                title: Some("Walks".into()),
                ..EditFields::default()
            },
            at(71),
        )
        .unwrap();
    vault
        .trash()
        .trash(std::slice::from_ref(&id), at(72))
        .unwrap();
    vault
        .trash()
        .restore(std::slice::from_ref(&id), at(73))
        .unwrap();
    vault
        .redactor()
        .redact(
            &id,
            &[RedactSpan {
                start: 0,
                end: 5,
                class: "habit".into(),
            }],
            false,
            at(74),
            &|_| {},
        )
        .unwrap();
    erase(&t, &id, "no longer so", 75);
    export(&t, "out.mem", None);
    let log = vault.audit().entries().unwrap();
    let ops: Vec<&str> = log[before..].iter().map(|row| row.op.as_str()).collect();
    for op in [
        "import", "add", "edit", "delete", "restore", "redact", "erase", "export",
    ] {
        assert!(ops.contains(&op), "{op} is not in {ops:?}");
    }
    assert!(log.iter().all(|row| row.at > 0 && !row.actor.is_empty()));
    let entry_for = |op: &str| log.iter().find(|row| row.op == op).unwrap();
    assert_eq!(
        (
            entry_for("edit").target.as_str(),
            entry_for("redact").target.as_str()
        ),
        (id.as_str(), id.as_str())
    );
    assert!(
        vault.audit().verify().unwrap(),
        "and nobody has changed it since"
    );
}

/// §6 and §8 L3: the Evidence Pack is a valid bundle with signed tombstones and without content of the deleted records.
#[test]
fn l3_the_evidence_pack_proves_the_deletion() {
    let t = TempVault::new();
    import(&t, &Bundle::of("all-kinds"));
    let id = one_row(&t, "episode/ep_tea").id_text();
    erase(&t, &id, "test", 100);
    let out = t.folder.path().join("pack.mem");
    let options = EvidencePackOptions {
        sign: true,
        ..EvidencePackOptions::default()
    };
    t.vault
        .exporter()
        .evidence_pack(&out, &options, at(200), &AtomicBool::new(false))
        .unwrap();
    let report = validated(&out);
    assert_eq!(
        (report.errors, report.level.as_deref()),
        (vec![], Some("L3"))
    );
    assert!(report.signature.0, "signed");
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let tombstones: Vec<Value> = read("audit/tombstones.jsonl")
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let our_tombstones: Vec<&Value> = tombstones.iter().filter(|s| s["id"] != "tomb_1").collect();
    assert!(
        !our_tombstones.is_empty()
            && our_tombstones.iter().all(|s| s["signature"]
                .as_str()
                .is_some_and(|s| s.starts_with("ed25519:")))
    );
    let log: Vec<Value> = read("audit/log.jsonl")
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert!(log.iter().all(|row| {
        ["ts", "actor", "op", "targetID"]
            .iter()
            .all(|key| row[*key].is_string())
    }));
    assert!(log.iter().any(|row| row["op"] == "erase"));
    for file in files(&out) {
        assert!(
            !contains_text(&std::fs::read(&file).unwrap(), "never coffee"),
            "{}",
            file.display()
        );
    }
}

pub fn erase(t: &TempVault, id: &str, reason: &str, second: i64) -> EraseOutcome {
    t.vault
        .eraser()
        .erase(&[id.to_owned()], reason, &[], at(second), &|_| {})
        .unwrap()
        .value
}

pub fn one_row(t: &TempVault, key: &str) -> RowView {
    live_records(t, Kind::Memory)
        .into_iter()
        .find(|(_, r)| r.key.value == key)
        .unwrap()
        .0
}
