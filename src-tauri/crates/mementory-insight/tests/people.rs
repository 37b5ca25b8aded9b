//! Tests which people are found in memories, and how they are related to the owner of the memories.
#![allow(clippy::unwrap_used)]
use mementory_insight::{Person, people};

/// Name, relation and owner of everyone in `texts`, in the order in which they are returned.
fn found(texts: &[&str]) -> Vec<(Option<String>, Option<&'static str>, Option<String>)> {
    people(texts).into_iter().map(|Person { name, relation, of, .. }| (name, relation, of)).collect()
}

fn named(name: &str, relation: Option<&'static str>) -> (Option<String>, Option<&'static str>, Option<String>) {
    (Some(name.to_owned()), relation, None)
}

#[test]
fn names_beside_a_relation_are_found_in_three_languages() {
    for (text, name, relation) in [
        ("User's younger brother Tomas lives in Porto.", "Tomas", "brother"),
        ("User has a son named Emil who is seven years old.", "Emil", "son"),
        ("Has an older sister, Quilla, who is a nurse.", "Quilla", "sister"),
        ("My boss is Dana Whitlock.", "Dana Whitlock", "boss"),
        ("Jarek, her flatmate, cooks on Sundays.", "Jarek", "flatmate"),
        ("Tom is the user's colleague.", "Tom", "colleague"),
        ("Die Tochter der Nutzerin heißt Hana.", "Hana", "daughter"),
        ("Meine Chefin ist Petra Lindqvist.", "Petra Lindqvist", "boss"),
        ("Ihr Nachbar Oskar hat einen Hund.", "Oskar", "neighbour"),
        ("ユーザーの母ヘルガさんは数学教師だった。", "ヘルガ", "mother"),
        ("上司は田中さんで、毎週月曜に面談がある。", "田中", "boss"),
        ("娘のハナはぬいぐるみがないと眠れない。", "ハナ", "daughter"),
    ] {
        assert_eq!(found(&[text]), [named(name, Some(relation))], "{text}");
    }
}

#[test]
fn a_relation_of_several_people_may_have_several_names() {
    let children = found(&["Has two kids, Emil and Hana."]);
    assert_eq!(children, [named("Emil", Some("child")), named("Hana", Some("child"))]);
}

#[test]
fn a_relation_without_a_name_counts_as_a_person() {
    assert_eq!(found(&["Her mother died in 2019."]), [(None, Some("mother"), None)]);
    assert_eq!(found(&["ユーザーの祖母は沖縄の出身である。"]), [(None, Some("grandmother"), None)]);
}

#[test]
fn a_relation_of_somebody_else_has_that_person_as_owner() {
    let people = found(&["Her sister Ruth lives in Leeds.", "Ida is Ruth's daughter."]);
    assert!(people.contains(&(Some("Ida".into()), Some("daughter"), Some("Ruth".into()))), "{people:?}");
    assert!(people.contains(&named("Ruth", Some("sister"))), "{people:?}");
}

#[test]
fn a_name_is_found_again_without_its_relation() {
    let people = people(&["Her brother Jarek is a baker.", "Jarek moved to Bremen.", "Rings Jarek on Fridays."]);
    assert_eq!(people.len(), 1, "{people:?}");
    assert_eq!(people[0].texts, [0, 1, 2]);
    assert_eq!(people[0].relation, Some("brother"));
}

#[test]
fn a_first_name_and_the_whole_name_are_one_person() {
    let people = people(&["Works with her colleague Petra Lindqvist.", "Petra is ill this week."]);
    assert_eq!(people.len(), 1, "{people:?}");
    assert_eq!(people[0].name.as_deref(), Some("Petra Lindqvist"));
}

#[test]
fn a_mother_without_a_name_is_the_one_whose_name_is_known() {
    let people = people(&["User's mother Helga taught mathematics.", "User's mother had a hip replaced."]);
    assert_eq!(people.len(), 1, "{people:?}");
    assert_eq!(people[0].texts, [0, 1]);
}

#[test]
fn the_person_is_not_among_the_people() {
    let texts = ["Mira lives in Leipzig.", "Mira's wife Ruth is a biologist.", "Mira plays the cello.", "Mira is 41."];
    assert_eq!(found(&texts), [named("Ruth", Some("wife"))]);
}

#[test]
fn the_person_is_left_out_in_every_script_and_when_introduced() {
    let texts = [
        "Mira lives in Leipzig.",
        "Mira's wife Ruth is a biologist.",
        "Mira plays the cello.",
        "ミラさんは毎朝走る。",
        "弟のミラさんへの手紙。",
    ];
    assert_eq!(found(&texts), [named("Ruth", Some("wife"))]);
    assert_eq!(
        found(&["User's name is Jonas.", "Jonas has a colleague named Emil."]),
        [named("Emil", Some("colleague"))]
    );
    assert_eq!(found(&["ユーザーの名前はハナである。", "ハナさんは医師だ。"]), []);
}

#[test]
fn whoever_has_the_persons_own_role_is_the_person() {
    let texts = [
        "Is godmother to Ida.",
        "Ida is Ruth's daughter. Maren is her godmother.",
        "Maren plans timetables at a ferry company.",
        "Maren plays the piano.",
    ];
    assert!(found(&texts).iter().all(|(name, ..)| name.as_deref() != Some("Maren")), "{:?}", found(&texts));
    // Ida may have two godmothers.
    let two = [texts[0], texts[1], texts[2], texts[3], "Her friend Maren lives in Oslo."];
    assert!(found(&two).iter().any(|(name, ..)| name.as_deref() == Some("Maren")), "{:?}", found(&two));
    let others = ["Is godmother to Ida.", "Maren is Ida's godmother.", "Likes figs."];
    assert!(found(&others).iter().any(|(name, ..)| name.as_deref() == Some("Maren")), "{:?}", found(&others));
}

#[test]
fn a_name_in_two_scripts_is_one_person_unless_the_relations_differ() {
    let one = people(&["Has a daughter named Hana.", "娘のハナは七歳だ。"]);
    assert_eq!(one.len(), 1, "{one:?}");
    assert_eq!((one[0].texts.as_slice(), one[0].relation), ([0, 1].as_slice(), Some("daughter")));
    let two = people(&["Has a daughter named Hana.", "同僚のハナさんは遅番だ。"]);
    assert_eq!(two.len(), 2, "{two:?}");
    let unclear = people(&["Her brother is Martin.", "Her friend Mardin calls.", "マーティンさんが来た。"]);
    assert_eq!(unclear.len(), 3, "{unclear:?}");
}

#[test]
fn things_places_and_months_are_not_people() {
    for text in [
        "Her boss is German and strict.",
        "Lives in Florence with a friend from May to June.",
        "Bought a Brother HL-2000 printer.",
        "Uses Python and Docker at work.",
        "Fährt im August mit dem Zug nach Wien.",
        "毎朝コーヒーを二杯飲む。",
        "母の日に花を贈る。",
        "皆さんで食事をする。",
    ] {
        assert!(people(&[text]).iter().all(|person| person.name.is_none()), "{text}: {:?}", people(&[text]));
    }
}

#[test]
fn hostile_and_empty_texts_name_nobody() {
    let long = "Anna ".repeat(50_000);
    let texts = ["", "\u{0}\u{202e}", "'s 's 's", "さん", "のさん", "・さん", "Her brother", "brother,", long.as_str()];
    let people = people(&texts);
    assert!(people.iter().all(|person| person.texts.iter().all(|n| *n < texts.len())), "{people:?}");
    assert!(people.iter().flat_map(|person| &person.name).all(|name| name.chars().count() < 60), "{people:?}");
}
