//! Tests that entries with values that the format forbids are imported with their exact text, and that the next export
//! is valid.
use super::harness::*;
use mementory_model::LossKind;
use serde_json::{Value, json};

fn entry() -> Value {
    json!({
        "schema_version": "zaxy.export.v1", "grain": "event", "kind": "decision.made",
        "citation": format!("eventloom://garden/events/7#{}", "a".repeat(64)), "seq": 7,
        "valid_from": "2026-06-15T00:00:00+00:00", "valid_to": null, "source": "eventloom",
        "content": {"type": "decision.made", "actor": "ilse", "thread": "garden",
            "payload": {"decision": "Water at six."}},
    })
}

/// Imports and exports a bundle, validates the export and returns its text.
fn exported(bundle: &Value, name: &str) -> String {
    let scratch = Scratch::new(name);
    let input = scratch.at("input.json");
    std::fs::write(&input, bundle.to_string()).unwrap();
    let mut memory = read(&input);
    let out = scratch.at("out.json");
    write(&mut memory, &out, None);
    let validation = validate(&out).unwrap();
    assert!(validation.errors.is_empty(), "{name}: {:?}", validation.errors);
    std::fs::read_to_string(&out).unwrap()
}

fn bundle(entry: &Value) -> Value {
    json!({"version": "zaxy.export.unsigned.v1", "schema_version": "zaxy.export.v1", "session_id": "garden",
        "signed": false, "entries": [entry]})
}

#[test]
fn an_invalid_value_of_an_entry_is_not_written_again() {
    for (i, (pointer, value)) in [
        ("/citation", json!("nowhere")),
        ("/citation", json!(5)),
        ("/seq", json!(0)),
        ("/seq", json!(8)),
        ("/seq", json!("7")),
        ("/valid_from", json!("yesterday")),
        ("/valid_from", json!(5)),
        ("/valid_to", json!("2026-06-15T00:00:00Z")),
        ("/source", json!("elsewhere")),
        ("/kind", json!("goal.created")),
        ("/content/thread", json!("kitchen")),
    ]
    .into_iter()
    .enumerate()
    {
        let mut bad = entry();
        *bad.pointer_mut(pointer).unwrap() = value;
        let text = exported(&bundle(&bad), &format!("forbidden-{i}"));
        assert!(text.contains("Water at six."), "{pointer}");
    }
}

#[test]
fn an_invalid_value_of_the_envelope_is_not_written_again() {
    for (i, (name, value)) in
        [("signed", json!(true)), ("session_id", json!(5)), ("schema_version", json!(1))].into_iter().enumerate()
    {
        let mut bad = bundle(&entry());
        bad[name] = value;
        assert!(exported(&bad, &format!("envelope-{i}")).contains("Water at six."), "{name}");
    }
}

#[test]
fn an_entry_whose_time_is_a_year_or_a_month_keeps_its_signature() {
    for time in ["2026", "2026-06"] {
        let scratch = Scratch::new(&format!("time-{time}"));
        let mut allowed = entry();
        allowed["valid_from"] = json!(time);
        let input = scratch.at("input.json");
        std::fs::write(&input, bundle(&allowed).to_string()).unwrap();
        assert!(validate(&input).unwrap().errors.is_empty(), "{time}");
        let (signed, out) = (scratch.at("signed.json"), scratch.at("out.json"));
        write(&mut read(&input), &signed, Some(TestKey("ed25519", 9)));
        write(&mut read(&signed), &out, None);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), std::fs::read_to_string(&signed).unwrap(), "{time}");
    }
}

#[test]
fn the_text_of_an_invalid_entry_is_in_the_extension_only_if_the_entry_was_not_edited() {
    for is_edited in [false, true] {
        let scratch = Scratch::new(&format!("forbidden-edited-{is_edited}"));
        let mut bad = entry();
        bad["valid_from"] = json!("yesterday");
        let (input, out) = (scratch.at("input.json"), scratch.at("out.json"));
        std::fs::write(&input, bundle(&bad).to_string()).unwrap();
        let mut memory = read(&input);
        if is_edited {
            memory.records[0].text = "Water at seven.".into();
            memory.edited.insert(0);
        }
        let report = write(&mut memory, &out, None);
        let expected = if is_edited { LossKind::LeftOut } else { LossKind::MovedToExtension };
        let loss = report.losses.items.iter().find(|loss| loss.field == "verbatim" && loss.kind == expected).unwrap();
        assert_eq!(loss.note.contains("in the extension"), !is_edited, "{}", loss.note);
        let text = std::fs::read_to_string(&out).unwrap();
        assert_eq!(text.contains("yesterday"), !is_edited);
    }
}

#[test]
fn unknown_members_of_an_envelope_that_is_not_written_again_are_listed() {
    let scratch = Scratch::new("envelope-members");
    let (input, out) = (scratch.at("input.json"), scratch.at("out.json"));
    for (signed, lost) in [(json!(false), 0), (json!(true), 1)] {
        let mut source = bundle(&entry());
        source["signed"] = signed;
        source["garden_of"] = json!("Ilse");
        source["empty"] = json!(null);
        std::fs::write(&input, source.to_string()).unwrap();
        let report = write(&mut read(&input), &out, None);
        assert_eq!(report.losses.count("garden_of", LossKind::LeftOut), lost);
        assert_eq!(report.losses.counts.len() as u64, lost, "{:?}", report.losses);
        assert_eq!(std::fs::read_to_string(&out).unwrap().contains("garden_of"), lost == 0);
        std::fs::remove_file(&out).unwrap();
    }
}

#[test]
fn what_an_event_said_before_it_was_forgotten_is_not_the_text_of_its_mark() {
    let scratch = Scratch::new("forgotten");
    let input = scratch.at("input.json");
    for (payload, text) in [
        (json!({"content": "[FORGOTTEN]", "__zaxy_forgotten": true}), ""),
        (json!({"content": "[FORGOTTEN]", "__zaxy_forgotten": 1, "status": "open"}), ""),
        (json!({"content": "[FORGOTTEN]"}), ""),
        (json!({"content": "I had [FORGOTTEN] it.", "__zaxy_forgotten": false}), "I had [FORGOTTEN] it."),
    ] {
        let mut entry = entry();
        entry["content"]["payload"] = payload.clone();
        std::fs::write(&input, bundle(&entry).to_string()).unwrap();
        let memory = read(&input);
        assert_eq!(memory.records[0].text, text, "{payload}");
        assert_eq!(memory.codes().contains(&"forgotten_payload".to_owned()), text.is_empty(), "{payload}");
        let exported: Value = serde_json::from_str(&exported(&bundle(&entry), "forgotten-out")).unwrap();
        assert_eq!(exported["entries"][0]["content"]["payload"], payload, "it is exported as it was");
    }
}
