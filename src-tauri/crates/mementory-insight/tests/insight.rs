//! Tests the public functions with typical memories, near misses and bad input.
#![allow(clippy::unwrap_used)]
use mementory_insight::{
    MAX_NAME_CHARS, Sort, Special, Statement, about, contradictions, judge, past_plans, special, topics,
};

const DAY: i64 = 86_400_000_000;

fn kind(text: &str) -> Option<&'static str> {
    about(text).map(|about| about.kind.as_str())
}

fn pairs(texts: &[&str]) -> Vec<(usize, usize, Sort)> {
    let statements: Vec<Statement<'_>> =
        texts.iter().enumerate().map(|(n, text)| Statement { text, at: Some(n as i64 * DAY) }).collect();
    contradictions(&statements, &[]).into_iter().map(|pair| (pair.a, pair.b, pair.sort)).collect()
}

#[test]
fn typical_memories_get_their_kind_in_three_languages() {
    for (text, wanted) in [
        ("User works as a nurse in a hospital in Leeds.", "work"),
        ("Die Nutzerin ist gegen Penicillin allergisch.", "health"),
        ("ユーザーは毎朝コーヒーを二杯飲む。", "food"),
        ("Please answer without emojis.", "how_to_answer"),
        ("Spart jeden Monat 300 Euro in einem ETF.", "money"),
        ("来年ポルトガルへ移住する予定。", "plans"),
    ] {
        assert_eq!(kind(text), Some(wanted), "{text}");
    }
}

#[test]
fn values_of_different_things_do_not_contradict_each_other() {
    for texts in [
        ["Is 37 years old.", "Biscuit is a grey tabby, nine years old."],
        ["Works at Travessia in Cais do Sodré.", "Is training for the Lisbon half marathon."],
        ["Finished work at the Leeds depot on 2 April 2026.", "Works at Travessia in Cais do Sodré."],
    ] {
        assert_eq!(pairs(&texts), [], "{texts:?}");
    }
    for texts in
        [["Is 37 years old.", "The user is 38 years old."], ["Is a nurse at Northgate.", "Works at Travessia."]]
    {
        assert_eq!(pairs(&texts).len(), 1, "{texts:?}");
    }
}

#[test]
fn special_categories_are_found_and_near_misses_are_not() {
    for (text, wanted) in [
        ("Has type 2 diabetes.", &[Special::Health][..]),
        ("Works as a doctor in a children's hospital.", &[]),
        ("Likes healthy snacks.", &[]),
        ("Ist Mitglied der IG Metall.", &[Special::Union]),
        ("Wohnt in der Gartenstraße 12, 04109 Leipzig.", &[Special::ExactAddress]),
        ("ラマダン中は断食する。", &[Special::Beliefs]),
        ("Has read a lot about the European Union.", &[]),
    ] {
        assert_eq!(special(text), wanted, "{text}");
    }
}

#[test]
fn body_weight_swelling_and_pregnancy_are_health_but_other_weights_and_expectations_are_not() {
    for text in ["Weighs about 91 kilos.", "Her ankles swell in the heat.", "They are expecting their second child."] {
        assert_eq!(special(text).first(), Some(&Special::Health), "{text}");
    }
    for text in
        ["Wiegt derzeit 91 Kilo.", "Nach Sellerie schwellen ihm die Lippen an.", "Ihre Kusine erwartet ein Baby."]
    {
        assert_eq!(special(text).first(), Some(&Special::Health), "{text}");
    }
    for text in ["His bicycle is lighter by a third.", "Expects a parcel on Monday.", "Erwartet am Montag ein Paket."] {
        assert_eq!(special(text), [], "{text}");
    }
}

#[test]
fn without_a_vector_the_words_of_a_text_show_its_kind() {
    let kind = |text: &str| judge(text, &[]).0.map(|about| about.kind.as_str());
    assert_eq!(kind("Was a carpenter until he retired."), Some("who_you_are"));
    assert_eq!(kind("Ist gelernter Klavierbauer."), Some("who_you_are"));
    assert_eq!(kind("古い時計を修理している途中だ。"), Some("projects"));
    let by_lists = ["Was a carpenter until he retired.", "Ist gelernter Klavierbauer."].map(about);
    assert!(
        by_lists.iter().all(|about| about.is_none_or(|about| about.kind.as_str() != "who_you_are")),
        "{by_lists:?}"
    );
}

#[test]
fn contradictions_are_found_across_languages_and_other_pairs_are_not() {
    let found_pairs = pairs(&["Die Nutzerin wohnt in Leipzig.", "User lives in Hamburg."]);
    assert_eq!(found_pairs, [(0, 1, Sort::Replaced)]);
    assert_eq!(pairs(&["ユーザーはパクチーが苦手である。", "Loves coriander."]), [(0, 1, Sort::Conflict)]);
    assert_eq!(pairs(&["Was born in Bremen.", "ドレスデン生まれ"]), [(0, 1, Sort::Conflict)]);
    let of_both = ["She and her husband have two children.", "Has three children."];
    assert_eq!(pairs(&of_both), [(0, 1, Sort::Replaced)]);
    // The word for "now" ("現在") is not part of the city's name.
    assert_eq!(pairs(&["アントワープに住んでいる。", "現在リエージュに住んでいる。"]), [(0, 1, Sort::Replaced)]);
    for apart in [
        ["Speaks German.", "Speaks Japanese fluently."],
        ["Has been to Kyoto.", "Has been to Osaka."],
        ["Has a brother called Kenji.", "Has a sister called Naomi."],
        ["Used to work at Siemens.", "Works at Bosch."],
        ["Her mother lives in Leipzig.", "User lives in Hamburg."],
        ["Lives in Germany.", "Lives in Hamburg."],
        ["Wohnt in München.", "Lives in Munich."],
        ["Wohnt in Lüttich.", "Lives in Liège."],
        ["Has two children.", "妹には子どもが4人いる。"],
        ["Lives in Oslo.", "いつかバンクーバーに住んでみたいと話している。"],
        ["Her sister has three children.", "User has two children."],
        ["Lives in Antwerp.", "現在アントワープに住んでいる。"],
        ["東京に住んでいる。", "現在東京に住んでいる。"],
    ] {
        assert_eq!(pairs(&apart), [], "{apart:?}");
    }
}

/// The contradictions in `texts`, where each text is preceded by the year of its statement.
fn dated(texts: &[(i64, &str)]) -> Vec<(usize, usize, Sort)> {
    let statements: Vec<Statement<'_>> =
        texts.iter().map(|(year, text)| Statement { text, at: Some((year - 1970) * 365 * DAY) }).collect();
    contradictions(&statements, &[]).into_iter().map(|pair| (pair.a, pair.b, pair.sort)).collect()
}

#[test]
fn ages_in_words_are_compared_in_three_languages() {
    for texts in [
        ["I am forty-two.", "User is thirty-six years old."],
        ["User is forty-two.", "Is 36 years old."],
        ["Ist zweiundvierzig Jahre alt.", "Die Nutzerin ist sechsunddreißig."],
        ["ユーザーは四十二歳である。", "ユーザーは36歳。"],
        ["ユーザーは四十二歳です。", "Ich bin sechsunddreißig Jahre alt."],
        ["Turned forty in May.", "Ist 36."],
    ] {
        assert_eq!(pairs(&texts), [(0, 1, Sort::Conflict)], "{texts:?}");
    }
    for texts in [
        ["I am forty-two.", "User is 42 years old."],
        ["Ist zweiundvierzig Jahre alt.", "ユーザーは四十二歳である。"],
        ["The limit is two.", "User is thirty-six."],
        ["ユーザーは四十二歳です。", "十歳年上の夫がいる。"],
        ["Is forty-two.", "Her mother is seventy-one."],
    ] {
        assert_eq!(pairs(&texts), [], "{texts:?}");
    }
}

#[test]
fn years_explain_the_ages_of_a_child_but_not_every_age() {
    let son = [(2022, "Has a son, Mats, who is four."), (2026, "息子のマッツは八歳になった。")];
    assert_eq!(dated(&son), []);
    assert_eq!(dated(&[son[0], (2026, "Mats ist sechs und geht in die Schule.")]), [(0, 1, Sort::Conflict)]);
    let daughter = [(2023, "Her daughter Ida is three years old."), (2025, "Ida is five.")];
    assert_eq!(dated(&daughter), []);
    assert_eq!(dated(&[daughter[0], (2025, "Ida is nine.")]), [(0, 1, Sort::Conflict)]);
    // An age of the owner of the memories is replaced by a newer one.
    assert_eq!(dated(&[(2022, "I am forty-two."), (2024, "Is 44.")]), [(0, 1, Sort::Replaced)]);
}

#[test]
fn renting_a_home_in_a_city_counts_as_living_there_and_a_concession_is_not_a_wish() {
    for texts in [
        ["Lives in a rented flat in Leeds.", "Lives in Lisbon since April 2026."],
        ["Wohnt in einer Altbauwohnung in Kassel.", "Wohnt jetzt in Graz."],
        ["松江の一軒家を借りて暮らしている。", "現在高知に住んでいる。"],
        ["Wants answers in English.", "Möchte Antworten auf Deutsch, auch wenn sie auf Englisch fragt."],
        ["Wants answers with short bullet points.", "箇条書きは使わず、文章で答えてほしい。"],
        ["Hat in der Praxis jede dritte Woche Nachtdienst.", "Macht keinen Nachtdienst mehr."],
        ["Hat einen Hund, einen alten Hovawart namens Bosse.", "Bosse died in spring 2025."],
        ["体重は六十二キロ。", "Weighs 58 kilos."],
    ] {
        assert_eq!(pairs(&texts).len(), 1, "{texts:?}");
    }
    for texts in [
        ["Hat eine Wohnung in Graz geerbt.", "Wohnt in Kassel."],
        ["Has three cats.", "Ihre Nachbarin hat vier Katzen."],
        ["Has a dog called Bosse.", "Her grandmother died in spring."],
    ] {
        assert_eq!(pairs(&texts), [], "{texts:?}");
    }
}

#[test]
fn a_plan_is_past_after_its_date() {
    let at = |text| [Statement { text, at: None }];
    let now = 20_700 * DAY; // 4 September 2026
    assert_eq!(past_plans(&at("Plans to fly to Osaka in August 2026."), now), [0]);
    assert!(past_plans(&at("Plans to fly to Osaka in September 2026."), now).is_empty());
    assert_eq!(past_plans(&at("Plans to fly to Osaka in April 2025."), now), [0]);
    assert!(past_plans(&at("Will im März 2027 nach Osaka fliegen."), now).is_empty());
    assert!(past_plans(&at("Flew to Osaka in April 2025."), now).is_empty());
    assert_eq!(past_plans(&at("Wants to fly to Osaka. It is to be in April 2025."), now), [0]);
    assert_eq!(past_plans(&at("Möchte am 3. April 2025 nach Osaka fliegen."), now), [0]);
    // A date in another sentence than the verb "plans" does not show a plan.
    let summary = "Work\n\nMaren plans ferry timetables in Lisbon.\n\nHome\n\nShe moved in April 2025.";
    assert!(past_plans(&at(summary), now).is_empty());
    assert!(past_plans(&at("Plans timetables. She moved to Lisbon in April 2025."), now).is_empty());
}

#[test]
fn the_age_of_a_pet_is_not_the_age_of_the_person() {
    for cat in [
        "Pets\nBiscuit is a grey tabby, nine years old. Travels badly.",
        "Lives in Lisbon. Biscuit is a grey tabby, nine years old.",
        "Biscuit is a grey tabby, nine years old.",
    ] {
        let statements = [cat, "Is 37 years old."].map(|text| Statement { text, at: None });
        assert_eq!(contradictions(&statements, &[]), [], "{cat}");
    }
    let statements = ["Lives in Lisbon. Is 36 years old.", "Is 38 years old."].map(|text| Statement { text, at: None });
    assert_eq!(contradictions(&statements, &[]).len(), 1);
}

#[test]
fn what_was_before_a_change_and_the_change_are_both_true() {
    let pairs = |older: &str| {
        let newer = "Finished work at the Leeds depot on 2 April 2026.";
        let statements = [(older, 1), (newer, 2)].map(|(text, at)| Statement { text, at: Some(at) });
        contradictions(&statements, &[vector(0, 1), vector(0, 1)]).len()
    };
    assert_eq!(pairs("Plans bus timetables at a depot in Leeds."), 1);
    assert_eq!(pairs("Before Lisbon she planned bus timetables at a depot in Leeds for twelve years."), 0);
}

#[test]
fn names_of_topics_are_plain_words() {
    let texts = [
        "The \u{202e}sailing boat\u{0} needs varnish <script>alert(1)</script>",
        "Varnish for the sailing boat was ordered",
        "Something else entirely",
    ];
    let found_topics = topics(&texts, &[]);
    assert_eq!(found_topics.first().map(|topic| topic.members.as_slice()), Some(&[0, 1][..]));
    let name = &found_topics.first().unwrap().name;
    assert!(name.chars().all(|c| c.is_alphanumeric() || c == ' '), "{name}");
    assert!(name.chars().count() <= MAX_NAME_CHARS);
}

#[test]
fn bad_input_is_bounded_and_gets_no_sure_answer() {
    for text in ["", " ", "🦊", "\u{202e}\u{0}", "qwrtz plmk xcvb", "........", "ᚠᚢᚦᚨᚱᚲ", "मेरा घर", "ผมชอบ"]
    {
        assert!(about(text).is_none_or(|about| about.confidence < 0.5), "{text}");
        assert!(special(text).is_empty(), "{text}");
        let (kind, classes) = judge(text, &[]);
        assert!(kind.is_none_or(|about| about.confidence < 0.5) && classes.is_empty(), "{text}");
    }
    let long = "does not like the rain and the wind ".repeat(3000);
    assert!(about(&long).is_none_or(|about| (0.0..=1.0).contains(&about.confidence)));
    let many: Vec<String> = (0..3000).map(|n| format!("Has {n} cats and lives in Town{n}.")).collect();
    let statements: Vec<Statement<'_>> = many.iter().map(|text| Statement { text, at: None }).collect();
    assert!(contradictions(&statements, &[]).len() <= 2000);
    assert!(topics(&["same words here"; 500], &[]).len() <= 1);
}

#[test]
fn without_a_usable_vector_the_words_decide() {
    let text = "Ist Mitglied der IG Metall.";
    let by_words = judge(text, &[]);
    assert!(by_words.1.contains(&Special::Union), "{by_words:?}");
    assert_eq!(judge(text, &[&[1.0, 0.0]]), by_words);
    assert_ne!(judge(text, &[&[0.04; 512]]).0, by_words.0);
}

/// A vector of length 1 that is mostly along `axis` and has a smaller part along `other`.
fn vector(axis: usize, other: usize) -> Vec<f32> {
    let mut numbers = vec![0.0; 512];
    (numbers[axis], numbers[other]) = (0.9, 0.435_889_9);
    numbers
}

#[test]
fn the_name_of_a_topic_has_its_shared_words_in_their_order() {
    let name = |texts: &[&str]| topics(texts, &[]).first().map(|topic| topic.name.clone());
    let races = ["Runs the half marathon.", "The half marathon is full.", "Likes figs."];
    assert_eq!(name(&races).as_deref(), Some("Half marathon"));
    let lists = ["Found bullet points dull.", "No bullet points please.", "Likes figs."];
    assert_eq!(name(&lists).as_deref(), Some("Bullet points"));
}

#[test]
fn the_name_of_a_topic_is_a_phrase_that_one_of_its_memories_has() {
    let name = |texts: &[&str]| topics(texts, &[]).first().map(|topic| topic.name.clone());
    let mother = [
        "Her mother was Irish and died in 2019.",
        "Has an Irish passport through her mother.",
        "Her mother died in May.",
    ];
    assert_eq!(name(&mother).as_deref(), Some("Mother died"), "no memory has \"mother irish died\"");
    let boats = ["A boat with 496 places is full at 410.", "The line for a full boat is at 410.", "Likes figs."];
    assert_eq!(name(&boats).as_deref(), Some("Full boat"));
    let months = ["Runs a race in October with Tom.", "The race in October is full.", "Likes figs."];
    assert_eq!(name(&months).as_deref(), Some("Race"), "a month says nothing about the topic");
    let german = ["Der Dosierer der Mühle klemmt.", "Hat den Dosierer der Mühle bestellt.", "Mag Feigen."];
    assert_eq!(name(&german).as_deref(), Some("Dosierer der Mühle"));
    let boats = ["Varnishes the mast. The sail is torn.", "Varnishes the keel. The sail is new.", "Likes figs."];
    assert_eq!(name(&boats).as_deref(), Some("Sail"), "a word that opens a sentence is often a verb");
    let japanese = ["部屋の壁紙を替えた。", "壁紙は青い。", "桃が好き。"];
    assert_eq!(name(&japanese).as_deref(), Some("壁紙"));
}

#[test]
fn no_two_topics_have_one_name() {
    let texts: Vec<String> = (0..40).map(|n| format!("Anchor {}", "abcdefghij".chars().nth(n / 4).unwrap())).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors: Vec<Vec<f32>> = (0..40).map(|n| vector(n / 4, 100 + n)).collect();
    let mut names: Vec<String> = topics(&texts, &vectors).into_iter().map(|topic| topic.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(all > 1 && names.len() == all, "{names:?}");
}

#[test]
fn texts_of_one_meaning_are_a_topic_without_a_shared_word() {
    let texts: Vec<String> = ('a'..='x').map(|letter| letter.to_string().repeat(6)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    // There are eight themes with three texts each. Every vector also has a part along an axis of its own.
    let vectors: Vec<Vec<f32>> = (0..24).map(|n| vector(n / 3, 100 + n)).collect();
    let found_topics = topics(&texts, &vectors);
    let members: Vec<Vec<usize>> = found_topics.iter().map(|topic| topic.members.clone()).collect();
    assert_eq!(members, (0..8).map(|n| vec![3 * n, 3 * n + 1, 3 * n + 2]).collect::<Vec<_>>());
    assert_eq!(topics(&texts, &vectors), found_topics);
    assert_eq!(topics(&texts, &[]), [], "no word is shared");
}

#[test]
fn texts_without_a_vector_are_in_no_topic_and_many_texts_are_compared_by_words_only() {
    // The texts share no words, but their vectors show few different themes.
    let topics_of = |count: usize| {
        let texts: Vec<String> = (0..count).map(|n| format!("{n:05}x")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors: Vec<Vec<f32>> =
            (0..count).map(|n| if n % 7 == 0 { Vec::new() } else { vector(n % 90, 100 + n % 400) }).collect();
        topics(&texts, &vectors)
    };
    let found_topics = topics_of(300);
    assert!(!found_topics.is_empty());
    assert!(found_topics.iter().flat_map(|topic| &topic.members).all(|n| n % 7 != 0));
    assert_eq!(topics_of(3001), [], "no word is shared");
}
