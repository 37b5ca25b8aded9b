//! Tests of documents that are encrypted with a passphrase.
use super::super::testing::*;
use mementory_format::{FormatError, WriteOptions};
use mementory_model::Limits;
use serde_json::{Value, json};
use std::sync::Arc;

fn code(error: FormatError) -> &'static str {
    match error {
        FormatError::Invalid { code, .. } => code,
        other => panic!("{other}"),
    }
}

#[test]
fn an_encrypted_document_leaks_nothing_and_round_trips() {
    let temp = Scratch::new("sealed");
    for (name, input) in [("v1", "v1/input.mif.json"), ("v2", "v2/input.json")] {
        let input = repo().join("fixtures/mif").join(input);
        let mut store = read(&input).unwrap();
        for encoding in ["json", "yaml", "jsonl"] {
            let out = temp.0.join(format!("{name}.mif.{encoding}"));
            let options = WriteOptions { passphrase: Some(Arc::new(FakeCipher("tea"))), ..options(encoding, None) };
            write(&mut store, &out, &options);
            let text = std::fs::read_to_string(&out).unwrap();
            for word in ["ilse", "beans", "Garden01", "jonas", "shift", "Test vault", "0191b2c3"] {
                assert!(!text.contains(word), "{name}: {word}");
            }
            assert_eq!(detected(&out, false).map(|d| d.0), Some("mif"));
            let validation = validate(&out);
            assert!(validation.errors.is_empty(), "{name} {encoding}: {:?}", validation.errors);
            assert_eq!(validation.kind.as_deref(), Some("encrypted"));
            assert_eq!(code(read(&out).err().unwrap()), "passphrase_needed");
            assert_eq!(code(read_with(&out, Some(Arc::new(FakeCipher("milk")))).err().unwrap()), "passphrase_wrong");
            let mut reread = read_with(&out, Some(Arc::new(FakeCipher("tea")))).unwrap();
            let plain = temp.0.join(format!("{name}-{encoding}.plain.json"));
            write(&mut reread, &plain, &self::options("json", None));
            assert_eq!(value(&plain), value(&input), "{name} {encoding}");
        }
    }
}

#[test]
fn missing_parts_of_an_envelope_are_reported() {
    let temp = Scratch::new("envelope");
    let five = json!({
        "algorithm": "aes-256-gcm", "key_derivation": "argon2id", "encrypted_payload": "AAAA",
        "iv": "AAAAAAAAAAAAAAAA", "auth_tag": "AAAAAAAAAAAAAAAAAAAAAA=="
    });
    let open = |envelope: &Value| {
        let path = temp.put("e.json", json!({"encryption": envelope}).to_string());
        let error_code = code(read_with(&path, Some(Arc::new(FakeCipher("tea")))).err().unwrap());
        (error_code, codes(&validate(&path).errors))
    };
    assert_eq!(open(&five), ("encryption_parameters_missing", vec!["encryption_parameters_missing".to_owned()]));
    let mut read_all = five.clone();
    read_all["salt"] = "AAAAAAAAAAAAAAAAAAAAAA==".into();
    read_all["kdf_params"] =
        json!({"memory_kib": 65536, "iterations": 3, "parallelism": 4, "version": 19, "output_length": 32});
    for (name, value, expected) in [
        ("algorithm", json!("rot13"), "encryption_algorithm"),
        ("key_derivation", json!("scrypt"), "encryption_algorithm"),
        ("iv", json!("AAAA"), "bad_value"),
        ("encrypted_payload", json!(""), "bad_value"),
        ("auth_tag", json!("not base64!"), "bad_value"),
        ("encrypted_payload", json!(7), "missing_field"),
        ("kdf_params", json!({"memory_kib": -1, "iterations": 3, "parallelism": 4}), "encryption_parameters_missing"),
    ] {
        let mut broken = read_all.clone();
        broken[name] = value;
        if name == "encrypted_payload" {
            let path = temp.put("e.json", json!({"mif_version": "1.0", "encryption": broken}).to_string());
            assert_eq!(code(read(&path).err().unwrap()), expected);
            continue;
        }
        assert_eq!(open(&broken), (expected, vec![expected.to_owned()]), "{name}");
    }
}

#[test]
fn an_envelope_without_a_readable_document_is_rejected() {
    let temp = Scratch::new("inside");
    let seal = |plain: &[u8]| {
        let tree = super::super::envelope::encrypt(plain, &FakeCipher("tea")).unwrap();
        let text =
            format!("{{\"mif_version\":\"1.0\",\"memories\":[],\"encryption\":{}}}", super::super::wire::json(&tree));
        let path = temp.put("e.json", text);
        read_with(&path, Some(Arc::new(FakeCipher("tea"))))
    };
    assert_eq!(code(seal(b"hello").err().unwrap()), "malformed");
    let inner = super::super::wire::json(&super::super::envelope::encrypt(b"{}", &FakeCipher("tea")).unwrap());
    let nested = format!("{{\"mif_version\":\"1.0\",\"memories\":[],\"encryption\":{inner}}}");
    assert_eq!(code(seal(nested.as_bytes()).err().unwrap()), "encrypted_twice");
    let (catalog, detection) = open(&temp.0.join("e.json"), true);
    let source = &detection.sources[0];
    let validation =
        super::super::validate::validate(&catalog, source, &Limits::default(), Some(&FakeCipher("tea"))).unwrap();
    assert_eq!(codes(&validation.errors), ["encrypted_twice"], "{:?}", validation.errors);
    let plain_document = br#"{"mif_version":"1.0","memories":[{"id":"mem_1","content":"inside"}]}"#;
    assert_eq!(seal(plain_document).unwrap().records[0].text, "inside");
}

#[test]
fn both_alphabets_of_base64_are_read() {
    let temp = Scratch::new("alphabets");
    let plain = br#"{"mif_version":"1.0","memories":[{"id":"mem_1","content":"???>>>~~~ inside"}]}"#;
    let sealed = super::super::wire::json(&super::super::envelope::encrypt(plain, &FakeCipher("tea")).unwrap());
    let url_safe = sealed.replace('+', "-").replace('/', "_").replace('=', "");
    assert_ne!(url_safe, sealed);
    for encryption in [sealed, url_safe] {
        let path = temp.put("e.json", format!("{{\"mif_version\":\"1.0\",\"encryption\":{encryption}}}"));
        let store = read_with(&path, Some(Arc::new(FakeCipher("tea")))).unwrap();
        assert_eq!(store.records[0].text, "???>>>~~~ inside");
    }
}

#[test]
fn excessive_kdf_costs_are_refused_before_a_passphrase_is_requested() {
    let temp = Scratch::new("costs");
    for (costs, expected) in [
        (json!({"memory_kib": 65536, "iterations": 3, "parallelism": 4}), "passphrase_needed"),
        (json!({"memory_kib": 64_u64 << 20, "iterations": 1, "parallelism": 1}), "kdf_parameters"),
        (json!({"memory_cost": 64_u64 << 20, "time_cost": 1, "lanes": 1}), "kdf_parameters"),
        (json!({"memory_kib": u64::MAX, "iterations": 1, "parallelism": 1}), "kdf_parameters"),
        (json!({"memory_kib": 65536, "iterations": u32::MAX, "parallelism": 4}), "kdf_parameters"),
        (json!({"memory_kib": 65536, "iterations": 0, "parallelism": 4}), "kdf_parameters"),
        (json!({"memory_kib": 65536, "iterations": 3, "parallelism": 5000}), "kdf_parameters"),
        (json!({"memory_kib": 65536, "iterations": 3, "parallelism": 0}), "kdf_parameters"),
        (json!({"memory_kib": 1, "iterations": 3, "parallelism": 4}), "kdf_parameters"),
    ] {
        let envelope = json!({
            "algorithm": "aes-256-gcm", "key_derivation": "argon2id", "encrypted_payload": "AAAA",
            "iv": "AAAAAAAAAAAAAAAA", "auth_tag": "AAAAAAAAAAAAAAAAAAAAAA==", "salt": "AAAAAAAAAAAAAAAAAAAAAA==",
            "kdf_params": costs
        });
        let path = temp.put("e.json", json!({"mif_version": "1.0", "encryption": envelope}).to_string());
        assert_eq!(code(read(&path).err().unwrap()), expected, "{costs}");
        let validation = codes(&validate(&path).errors);
        let wanted: &[&str] = if expected == "kdf_parameters" { &["kdf_parameters"] } else { &[] };
        assert_eq!(validation, wanted, "{costs}");
    }
}

#[test]
fn an_encryption_that_is_no_envelope_is_an_error_and_is_not_written_again() {
    let temp = Scratch::new("no-envelope");
    let input = value(&repo().join("fixtures/mif/v1/input.mif.json"));
    for (name, encryption, expected) in [
        ("text", json!("aes"), "wrong_type"),
        ("list", json!([]), "wrong_type"),
        ("empty", json!({}), "missing_field"),
        ("named", json!({"algorithm": "aes-256-gcm"}), "missing_field"),
    ] {
        let mut document = input.clone();
        document["encryption"] = encryption;
        let path = temp.put(&format!("{name}.mif.json"), document.to_string());
        assert!(codes(&validate(&path).errors).contains(&expected.to_owned()), "{name}");
        let mut store = read(&path).unwrap();
        assert!(!store.records.is_empty(), "{name}");
        let out = temp.0.join(format!("{name}-out.mif.json"));
        write(&mut store, &out, &options("json", None));
        assert!(value(&out).get("encryption").is_none(), "{name}");
    }
    let mut document = input;
    document["encryption"] = Value::Null;
    let path = temp.put("null.mif.json", document.to_string());
    assert_eq!(codes(&validate(&path).errors), Vec::<String>::new());
}

#[test]
fn records_beside_an_envelope_are_validated_and_reported() {
    let temp = Scratch::new("beside");
    let plain = br#"{"mif_version":"1.0","memories":[{"id":"mem_1","content":"inside"}]}"#;
    let sealed = super::super::wire::json(&super::super::envelope::encrypt(plain, &FakeCipher("tea")).unwrap());
    let memory =
        r#"{"id":"mem_2","content":"outside","type":"Learning","created_at":"2026-01-01T00:00:00Z","importance":7}"#;
    let text = format!("{{\"mif_version\":\"1.0\",\"memories\":[{memory}],\"encryption\":{sealed}}}");
    let path = temp.put("e.json", text);
    let validation = validate(&path);
    assert!(codes(&validation.warnings).contains(&"outside_envelope".to_owned()), "{:?}", validation.warnings);
    assert_eq!(codes(&validation.errors), ["bad_value", "missing_field"], "importance, and no header");
    let store = read_with(&path, Some(Arc::new(FakeCipher("tea")))).unwrap();
    assert_eq!(store.records.len(), 2);
}
