//! Tests of round trips of bundles.
use super::harness::{
    MemorySource, Scratch, codes, empty, fixture, is_valid_signature, options, read, repo, signature, validate, write,
};
use crate::zaxy::{Grain, Selector, Zaxy};
use mementory_format::{Format, FormatOptions, WriteOptions};
use mementory_model::{Kind, LossKind};
use serde_json::Value;

fn json(path: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn unedited_bundles_are_written_byte_for_byte() {
    for case in [
        "unsigned",
        "signed-ed25519",
        "signed-ml-dsa-65",
        "subset-ed25519",
        "subset-ml-dsa-65",
        "compact",
        "unknown-fields",
        "subset-order",
    ] {
        let path = fixture(case);
        let temp = Scratch::new("zaxy");
        let out = temp.at("out.json");
        let mut memory = read(&path);
        let report = write(&mut memory, &out, None);
        assert!(report.losses.counts.is_empty(), "{case}: {:?}", report.losses);
        assert_eq!(report.by_kind.values().sum::<u64>() as usize, memory.records.len());
        assert_eq!(std::fs::read_to_string(&out).unwrap(), std::fs::read_to_string(&path).unwrap(), "{case}");
    }
}

#[test]
fn the_content_of_an_entry_is_in_its_record() {
    let memory = read(&fixture("signed-ed25519"));
    let find = |kind: Kind, t: &str| {
        memory.records.iter().find(|r| r.kind == kind && r.record_type.as_deref() == Some(t)).unwrap()
    };
    let goal = find(Kind::Todo, "goal.created");
    assert_eq!(goal.title.as_deref(), Some("Learn the Prelude in G"));
    assert_eq!(goal.text, "by heart, before the summer concert");
    assert_eq!(goal.times.created.unwrap().to_rfc3339(), "2026-03-02T18:00:00Z");
    assert_eq!((goal.namespace.as_deref(), goal.entities[0].name.as_str()), (Some("cello"), "ines"));
    assert_eq!(goal.fields["seq"], 1);
    let note = find(Kind::Memory, "memory.noted");
    assert!(note.text.contains("“Ünïsono”") && note.text.contains('🎻'));
    assert_eq!((note.tags.len(), note.importance), (2, Some(1.0)));
    let edge = find(Kind::Relation, "created_goal");
    let relations: Vec<&str> = edge.links.iter().map(|l| l.relation.as_str()).collect();
    assert_eq!(relations, ["source", "target", "derived_from"]);
    assert_eq!((edge.confidence, &edge.links[2].target), (Some(1.0), &goal.key));
    let verbatim = &find(Kind::Memory, "observation.recorded").verbatim.as_ref().unwrap().text;
    assert!(verbatim.contains("12345678901234567890123") && verbatim.contains("1e-07"));
    let ids: Vec<Value> = json(&fixture("signed-ed25519"))["entries"].as_array().unwrap().to_vec();
    for (record, entry) in memory.records.iter().zip(ids) {
        assert_eq!(record.key.value, entry["id"].as_str().unwrap());
        assert_eq!(serde_json::from_str::<Value>(&record.verbatim.as_ref().unwrap().text).unwrap(), entry["content"]);
    }
}

#[test]
fn an_edit_changes_its_entry_and_drops_the_signature() {
    let temp = Scratch::new("zaxy");
    let mut memory = read(&fixture("signed-ed25519"));
    let at = memory.records.iter().position(|r| r.record_type.as_deref() == Some("decision.made")).unwrap();
    memory.records[at].text = "practise at 60".into();
    memory.records[at].tags = vec!["tempo".into()];
    memory.records[at].title = Some("Tempo".into());
    memory.records[at].namespace = Some("elsewhere".into());
    memory.edited.insert(at);
    let out = temp.at("out.json");
    let report = write(&mut memory, &out, None);
    assert_eq!(report.version, "zaxy.export.unsigned.v1");
    assert_eq!(report.losses.count("signature", LossKind::LeftOut), 1);
    assert_eq!(report.losses.count("citation", LossKind::Narrowed), 1);
    assert_eq!(report.losses.count("namespace", LossKind::MovedToExtension), 1);
    assert_eq!(report.losses.counts.len(), 3, "{:?}", report.losses);
    let validation = validate(&out).unwrap();
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    let bundle = json(&out);
    assert_eq!((bundle["session_id"].as_str(), bundle["entries"].as_array().unwrap().len()), (Some("cello"), 16));
    let entry = bundle["entries"].as_array().unwrap().iter().find(|e| e["kind"] == "decision.made").unwrap();
    let payload = &entry["content"]["payload"];
    assert_eq!((payload["decision"].as_str(), payload["score"].as_f64()), (Some("practise at 60"), Some(0.8)));
    assert_eq!((payload["tags"][0].as_str(), payload["title"].as_str()), (Some("tempo"), Some("Tempo")));
    let original = json(&fixture("signed-ed25519"));
    assert!(!original.to_string().contains(entry["citation"].as_str().unwrap()));
    // The edited entry yields the same record and survives a round trip byte for byte.
    let mut reread = read(&out);
    let record = reread.records.iter().find(|r| r.text == "practise at 60").unwrap();
    assert_eq!(record.key, memory.records[at].key);
    assert_eq!((record.namespace.as_deref(), &record.tags), (Some("elsewhere"), &memory.records[at].tags));
    let second_out = temp.at("again.json");
    write(&mut reread, &second_out, None);
    assert_eq!(std::fs::read(&second_out).unwrap(), std::fs::read(&out).unwrap());
}

#[test]
fn a_selection_keeps_the_envelope_only_if_it_is_still_valid() {
    let temp = Scratch::new("zaxy");
    for (case, version, lost) in [
        ("unsigned", "zaxy.export.unsigned.v1", 0),
        ("signed-ed25519", "zaxy.export.unsigned.v1", 1),
        ("subset-ed25519", "zaxy.portable.v1", 0),
    ] {
        let mut memory = read(&fixture(case));
        memory.records.pop();
        let out = temp.at(case);
        let report = write(&mut memory, &out, None);
        assert_eq!((report.version.as_str(), report.losses.count("signature", LossKind::LeftOut)), (version, lost));
        let validation = validate(&out).unwrap();
        assert!(validation.errors.is_empty(), "{case} {:?}", validation.errors);
        assert_eq!(signature(&out).as_ref().map(is_valid_signature), (version == "zaxy.portable.v1").then_some(true));
    }
}

#[test]
fn several_sources_become_one_session() {
    let temp = Scratch::new("zaxy");
    let mut memory = read(&repo().join("fixtures/eventloom/v1/input.jsonl"));
    let from_log = temp.at("log.json");
    let report = write(&mut memory, &from_log, None);
    assert!(report.losses.counts.is_empty(), "{:?}", report.losses);
    // The reference implementation exports the same events from this log.
    let reference_entries: Vec<Value> = json(&fixture("unsigned"))["entries"].as_array().unwrap().clone();
    let events: Vec<&Value> = reference_entries.iter().filter(|e| e["grain"] == "event").collect();
    let bundle = json(&from_log);
    assert_eq!(bundle["session_id"], "cello");
    assert_eq!(bundle["entries"].as_array().unwrap().iter().collect::<Vec<_>>(), events);
    // Two bundles of the same session are merged in the order of their events.
    let mut merged = read(&fixture("unsigned"));
    let rest = merged.records.split_off(6);
    let mut other = MemorySource { records: rest, ..empty() };
    other.records.iter_mut().for_each(|r| r.origin.container = "a second file".into());
    merged.records.extend(other.records);
    let out = temp.at("both.json");
    write(&mut merged, &out, None);
    assert_eq!(json(&out)["entries"].as_array().unwrap(), &reference_entries);
    assert_eq!(json(&out)["session_id"], "cello");
    // An encrypted event is withheld.
    let mut memory = read(&repo().join("fixtures/eventloom/encrypted/input.jsonl"));
    assert!(memory.records[0].text.is_empty());
    let report = write(&mut memory, &temp.at("none.json"), None);
    assert_eq!((report.withheld["encrypted"], report.by_kind.len()), (1, 0));
}

#[test]
fn selectors_apply_to_events_with_their_entries() {
    let kinds = |path: &std::path::Path| -> Vec<String> {
        let entries = json(path)["entries"].as_array().unwrap().clone();
        entries.iter().map(|e| e["kind"].as_str().unwrap().to_owned()).collect()
    };
    let mut memory = read(&fixture("unsigned"));
    memory.records.iter_mut().filter(|r| r.record_type.as_deref() == Some("task.completed")).for_each(|r| {
        r.sensitivity = Some("restricted".into());
    });
    let temp = Scratch::new("zaxy");
    let mut choose = |name: &str, selector: Selector| {
        let out = temp.at(name);
        let options = WriteOptions { format_options: FormatOptions::new(selector), ..options(None) };
        let report = Zaxy.write(&mut memory, &out, &options).unwrap();
        let written: u64 = report.by_kind.values().sum();
        assert_eq!(written + report.withheld.get("selector").copied().unwrap_or_default(), 16);
        kinds(&out)
    };
    let all = Selector::default;
    let events = ["goal.created", "decision.made", "memory.noted", "task.completed", "observation.recorded"];
    let only_events = || Selector { grains: [Grain::Event].into(), ..all() };
    assert_eq!(choose("all", all()).len(), 16);
    assert_eq!(choose("event", only_events()), events);
    assert_eq!(choose("semantic", Selector { grains: [Grain::Semantic].into(), ..all() }).len(), 11);
    let kind = Selector { kinds: Some(["goal.created".to_owned()].into()), ..all() };
    assert_eq!(choose("kinds", kind), ["goal.created", "entity:goal", "entity:actor", "edge:created_goal"]);
    assert_eq!(choose("seq", Selector { since_seq: Some(1), max_seq: Some(3), ..only_events() }), events[1..3]);
    let time = |s: &str| Some(s.to_owned());
    let window = Selector {
        since_time: time("2026-03-02T18:01:00Z"),
        until_time: time("2026-03-02T18:02:00Z"),
        ..only_events()
    };
    assert_eq!(choose("time", window), events[1..3]);
    assert_eq!(choose("latest", Selector { limit: Some(2), ..only_events() }), events[3..]);
    let tiers = Selector { exclude_sensitivities: ["restricted".to_owned()].into(), ..only_events() };
    assert_eq!(choose("tiers", tiers), ["goal.created", "decision.made", "memory.noted", "observation.recorded"]);
    let query = |words: &str, n| Selector { query: Some(words.into()), query_limit: n, ..only_events() };
    assert_eq!(choose("query", query("CELLO unisono nothing", 50)), ["memory.noted"]);
    assert_eq!(choose("query2", query("cello prelude string", 1)).len(), 1);
    assert_eq!(choose("query3", query("zzz", 50)), Vec::<String>::new());
    assert_eq!(Selector::grains_of(["event", " semantic"]).unwrap().len(), 2);
    assert!(Selector::grains_of(["events"]).is_none() && Selector::grains_of([]).is_none());
}

#[test]
fn only_the_first_of_two_events_keeps_the_citation_that_both_have() {
    let temp = Scratch::new("zaxy");
    let path = temp.at("twins.json");
    let mut bundle = json(&fixture("unsigned"));
    let mut twin = bundle["entries"][0].clone();
    twin["content"]["payload"] = serde_json::json!({"text": "The cello was never bought."});
    bundle["entries"].as_array_mut().unwrap().push(twin.clone());
    std::fs::write(&path, bundle.to_string()).unwrap();
    assert_eq!(codes(&validate(&path).unwrap().errors), ["citation_conflict"]);

    let mut memory = read(&path);
    let out = temp.at("out.json");
    let report = write(&mut memory, &out, None);
    assert!(report.losses.count("verbatim", LossKind::MovedToExtension) >= 1, "{:?}", report.losses);
    assert_eq!(codes(&validate(&out).unwrap().errors), Vec::<&str>::new());
    let written = json(&out)["entries"].as_array().unwrap().clone();
    assert_eq!(written.iter().filter(|e| e["grain"] == "event" && e["citation"] == twin["citation"]).count(), 1);
    let mut keys = [&memory, &read(&out)].map(|all| all.records.iter().map(|r| r.key.clone()).collect::<Vec<_>>());
    keys.iter_mut().for_each(|keys| keys.sort_by(|a, b| a.value.cmp(&b.value)));
    assert_eq!(keys[0], keys[1]);
}

#[test]
fn an_unknown_version_is_not_written() {
    let mut memory = read(&fixture("unsigned"));
    let temp = Scratch::new("zaxy");
    for (version, fails) in [("zaxy.export.unsigned.v1", false), ("zaxy.portable.v1", true), ("zaxy.portable.v9", true)]
    {
        let options = WriteOptions { version: Some(version.into()), ..options(None) };
        assert_eq!(Zaxy.write(&mut memory, &temp.at(version), &options).is_err(), fails, "{version}");
    }
    let mut empty = empty();
    let key = super::harness::TestKey::BOTH[0];
    assert!(Zaxy.write(&mut empty, &temp.at("empty"), &options(Some(key))).is_err());
    write(&mut empty, &temp.at("none"), None);
    assert_eq!(codes(&validate(&temp.at("none")).unwrap().errors), Vec::<&str>::new());
}
