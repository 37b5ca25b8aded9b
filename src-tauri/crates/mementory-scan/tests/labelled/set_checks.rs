//! Tests of the set itself: labels must be at the right positions, and values must be valid and decoys invalid,
//! according to code that is independent of the generators.
use super::text::LabelledText;
use super::{DEFAULT_SEED, TEXT_COUNT, ids_world, keys, measure, money, phones, rng::Rng, set, slots, validate};
use mementory_scan::{Class, Confidence, Finding};
use std::collections::BTreeSet;

/// All values in a set, each as (slot, class, value).
fn values(set: &[LabelledText]) -> impl Iterator<Item = (&str, Class, &str)> {
    set.iter().flat_map(|sample| {
        let (_, named) = sample.about.split_once(": ").expect("a kind and its slots");
        let values = sample.values.iter().map(|(class, span)| (*class, &sample.text[span.clone()]));
        named.split(' ').zip(values).map(|(slot, (class, value))| (slot, class, value))
    })
}

#[test]
fn the_same_seed_gives_the_same_set() {
    assert_eq!(set::generate(DEFAULT_SEED, 300), set::generate(DEFAULT_SEED, 300));
    assert_eq!(set::generate(DEFAULT_SEED, 300)[..], set::generate(DEFAULT_SEED, 600)[..300]);
    assert_ne!(set::generate(DEFAULT_SEED, 300), set::generate(DEFAULT_SEED + 1, 300));
}

#[test]
fn labels_are_on_character_boundaries_in_order_and_do_not_overlap() {
    for sample in set::generate(DEFAULT_SEED, TEXT_COUNT) {
        let mut end = 0;
        for (_, span) in &sample.values {
            assert!(span.start >= end && span.start < span.end, "{sample:?}");
            let value = sample.text.get(span.clone()).unwrap_or_else(|| panic!("not on characters: {sample:?}"));
            assert_eq!(value.trim(), value, "{sample:?}");
            end = span.end;
        }
        assert!(!sample.text.contains(['⟨', '⟩']) && sample.text.len() <= 4096 && sample.text.chars().count() >= 40);
    }
}

#[test]
fn half_the_texts_have_values_and_every_class_occurs() {
    let set = set::generate(DEFAULT_SEED, TEXT_COUNT);
    let count_with_values = set.iter().filter(|sample| !sample.values.is_empty()).count();
    assert!((TEXT_COUNT * 45 / 100..TEXT_COUNT * 55 / 100).contains(&count_with_values), "{count_with_values}");
    for class in Class::IN_TEXT {
        let count = values(&set).filter(|(_, of, _)| *of == class).count();
        assert!(count >= 300, "{}: {count}", class.as_str());
    }
    let slots: BTreeSet<&str> = values(&set).map(|(slot, ..)| slot).collect();
    for (kind, ..) in ids_world::KINDS {
        assert!(slots.contains(format!("id.{kind}").as_str()), "no {kind}");
    }
    for (code, ..) in phones::COUNTRIES {
        let named =
            slots.contains(format!("phone.{code}").as_str()) || slots.contains(format!("phone.+{code}").as_str());
        assert!(named, "no telephone of {code}");
    }
    let iban_countries: BTreeSet<&str> = money::IBANS.iter().map(|(country, _)| *country).collect();
    assert!(iban_countries.len() >= 25 && phones::COUNTRIES.len() >= 25 && keys::provider_count() >= 25);
}

#[test]
fn every_value_passes_an_independent_check() {
    for (slot, class, value) in values(&set::generate(DEFAULT_SEED, TEXT_COUNT)) {
        let holds = match class {
            Class::Card => validate::is_valid_card(value),
            Class::Iban => validate::is_valid_iban(value),
            Class::NationalId => ids_world::kind_by_name(slot.strip_prefix("id.").expect("an id's slot")).2(value),
            Class::PrivateKey => {
                value.starts_with("-----BEGIN ") && value.ends_with("-----") && value.contains("PRIVATE KEY")
            }
            Class::Email => value.split('@').count() == 2 && value.is_ascii() && !value.contains("example"),
            Class::Phone => (8..=15).contains(&value.chars().filter(char::is_ascii_digit).count()),
            Class::Password => value.len() >= 6 && !value.contains(char::is_whitespace),
            Class::AccessKey => {
                let has_github_prefix =
                    ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"].iter().any(|lead| value.starts_with(lead));
                value.len() >= 20
                    && !value.contains(char::is_whitespace)
                    && (!has_github_prefix || validate::is_valid_github(value))
            }
            // This class is for members of records, never for a value in a text.
            Class::StoredSecret => false,
        };
        assert!(holds, "{slot}: {value}");
    }
}

#[test]
fn published_numbers_are_valid_and_their_neighbours_are_not() {
    // These samples were published by others, so they reveal a mistake that generator and validator have in common.
    type NumberCheck = fn(&str) -> bool;
    let samples: &[(NumberCheck, &str)] = &[
        (validate::is_valid_iban, "GB82 WEST 1234 5698 7654 32"),
        (validate::is_valid_iban, "DE89 3704 0044 0532 0130 00"),
        (validate::is_valid_dni, "12345678Z"),
        (validate::is_valid_nie, "X1234567L"),
        (validate::is_valid_codice_fiscale, "RSSMRA85T10A562S"),
        (validate::is_valid_steuer_id, "86095742719"),
        (validate::is_valid_bsn, "111222333"),
        (validate::is_valid_rijksregister, "85.07.30-033.28"),
        (validate::is_valid_pesel, "44051401359"),
        (validate::is_valid_personnummer, "811228-9874"),
        (validate::is_valid_hetu, "131052-308T"),
        (validate::is_valid_nif, "123456789"),
        (validate::is_valid_ahv, "756.9217.0769.85"),
        (validate::is_valid_nhs, "943 476 5919"),
        (validate::is_valid_cpf, "111.444.777-35"),
        (validate::is_valid_rut, "12.345.678-5"),
        (validate::is_valid_kimlik, "10000000146"),
        (validate::is_valid_aadhaar, "2341 2341 2346"),
        (validate::is_valid_resident, "11010519491231002X"),
        (validate::is_valid_my_number, "1234 5678 9018"),
        (validate::is_valid_nir, "2 55 08 14 168 025 38"),
        (validate::is_valid_luhn, "79927398713"),
    ];
    for (holds, number) in samples {
        assert!(holds(number), "{number}");
        let position = number.rfind(|c: char| c.is_ascii_digit()).expect("a digit");
        let other = (number.as_bytes()[position] - b'0' + 1) % 10;
        let neighbour = format!("{}{other}{}", &number[..position], &number[position + 1..]);
        assert!(!holds(&neighbour), "{neighbour}");
    }
}

#[test]
fn decoys_are_not_valid_numbers() {
    for index in 0..400 {
        let rng = &mut Rng::new(DEFAULT_SEED, index);
        for slot in ["notcard", "longrun"] {
            let number = slots::text_for(rng, slot);
            assert!(!validate::is_valid_luhn(&number), "{number}");
        }
        let account = slots::text_for(rng, "notiban");
        assert!(!validate::is_valid_iban(&account), "{account}");
        let phone = slots::text_for(rng, "imei");
        assert!(validate::is_valid_luhn(&phone) && !validate::is_valid_card(&phone), "{phone}");
        for (kind, _, holds) in ids_world::KINDS.iter().filter(|kind| kind.0 != "ssn") {
            let number = slots::text_for(rng, &format!("wrong.{kind}"));
            assert!(!holds(&number), "{kind} {number}");
        }
    }
}

#[test]
fn precision_and_recall_are_counted_correctly() {
    let sample = LabelledText {
        text: "x".repeat(60),
        values: vec![(Class::Email, 0..10), (Class::Email, 20..30)],
        about: "a: b".into(),
    };
    let finding = |class, start, end| Finding { class, detector: "t", start, end, confidence: Confidence::Likely };
    let score = |findings: Vec<Finding>| {
        let scores = measure::measure(std::slice::from_ref(&sample), |_| findings.clone());
        let email = scores.into_iter().find(|(class, _)| *class == Class::Email).expect("a score for each class").1;
        (email.precision(), email.recall())
    };
    let exact = finding(Class::Email, 0, 10);
    assert_eq!(score(vec![]), (1.0, 0.0));
    assert_eq!(score(vec![exact]), (1.0, 0.5));
    assert_eq!(score(vec![exact, exact]), (0.5, 0.5));
    assert_eq!(score(vec![exact, finding(Class::Email, 22, 30)]), (1.0, 1.0));
    assert_eq!(score(vec![exact, finding(Class::Email, 23, 30)]), (0.5, 0.5));
    assert_eq!(score(vec![exact, finding(Class::Email, 20, 32)]), (1.0, 1.0));
    assert_eq!(score(vec![exact, finding(Class::Email, 20, 33)]), (0.5, 0.5));
    assert_eq!(score(vec![exact, finding(Class::Phone, 20, 30)]), (1.0, 0.5));
}
