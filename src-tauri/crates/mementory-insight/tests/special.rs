//! Tests the special categories of sentences that were used neither for the word lists nor for the samples.
#![allow(clippy::unwrap_used, clippy::print_stderr)]
use mementory_insight::{Special, judge, special};
use mementory_meaning::Encoder;
use std::path::PathBuf;

const WITH_CATEGORY: [(&str, Special); 39] = [
    ("Needs crutches until the cast comes off.", Special::Health),
    ("Her uncle had a pacemaker put in last spring.", Special::Health),
    ("Can only hear well on the left side since the accident.", Special::Health),
    ("Nimmt seit dem Infarkt jeden Morgen einen Blutverdünner.", Special::Health),
    ("Sein Bruder wird zweimal in der Woche an die Dialyse angeschlossen.", Special::Health),
    ("祖父は去年から酸素吸入をしている。", Special::Health),
    ("膝の手術のあと松葉杖で歩いている。", Special::Health),
    ("Sings hymns every Sunday with the Presbyterians.", Special::Beliefs),
    ("Keeps the fast until sunset for the whole holy month.", Special::Beliefs),
    ("Geht jeden Freitag mit seinem Vater zum Gebet in die Moschee.", Special::Beliefs),
    ("Hält nichts vom Glauben und ist überzeugter Atheist.", Special::Beliefs),
    ("毎朝仏壇に手を合わせて念仏を唱える。", Special::Beliefs),
    ("Hands out flyers for the Tories before every vote.", Special::Politics),
    ("Marches against the government's pension reform.", Special::Politics),
    ("Sitzt für die Sozialdemokraten im Kreistag.", Special::Politics),
    ("Will, dass die Wehrpflicht nie wieder kommt.", Special::Politics),
    ("知事選で候補者のビラ配りを手伝った。", Special::Politics),
    ("Her parents are Lebanese and she feels at home in both worlds.", Special::Origin),
    ("Belongs to the Basque people.", Special::Origin),
    ("Ist Kroatin und hat auch einen deutschen Pass.", Special::Origin),
    ("Seine Großmutter gehörte zu den Sinti.", Special::Origin),
    ("母方の祖父母は台湾から来た移民である。", Special::Origin),
    ("Is married to a man, as a man.", Special::Sexuality),
    ("Told his colleagues last year that he is gay.", Special::Sexuality),
    ("Ihre Freundin und sie sind ein lesbisches Paar.", Special::Sexuality),
    ("恋愛対象は男女どちらもである。", Special::Sexuality),
    ("Opens the lab door with a scan of the palm.", Special::Biometrics),
    ("Die Bank erkennt sie am Telefon an ihrem Stimmabdruck.", Special::Biometrics),
    ("会社の入口は顔認証で開く。", Special::Biometrics),
    ("Pays dues to the electricians' union.", Special::Union),
    ("Streikt am Donnerstag mit den Kollegen von der EVG.", Special::Union),
    ("組合の支部で書記をしている。", Special::Union),
    ("Owes the tax office nine thousand pounds.", Special::Money),
    ("Verdient als Bäckerin 2.300 Euro im Monat.", Special::Money),
    ("毎月八万円を返済している。", Special::Money),
    ("Little Odo turns five in June and wants a drum.", Special::Minors),
    ("Die Kleine kommt im Sommer in die erste Klasse.", Special::Minors),
    ("Parcels go to 18 Heron Quay, second floor.", Special::ExactAddress),
    ("Zustellung bitte in den Birkenweg 7b.", Special::ExactAddress),
];

const WITHOUT_CATEGORY: [&str; 18] = [
    "Is a physiotherapist and rents a practice room.",
    "Cooks a big pot of lentils every Monday.",
    "Photographs old churches in Brittany.",
    "Teaches history and likes the chapter on the French Revolution.",
    "Goes to the Italian place round the corner on Fridays.",
    "Types with ten fingers and likes loud keyboards.",
    "Paid nine euros for the museum.",
    "Lives near a big park.",
    "Arbeitet als Krankenschwester auf einer Kinderstation.",
    "Sucht eine Wohnung mit Balkon.",
    "Liest gern Krimis, die in Schweden spielen.",
    "Geht freitags mit Freunden zum Griechen.",
    "Repariert alte Uhren.",
    "Möchte kurze Antworten in Tabellen.",
    "週末は庭でトマトを育てている。",
    "ユーザーは看護師として働いている。",
    "京都の寺の写真を撮るのが好きである。",
    "返答は短くしてほしい。",
];

/// Figures of speech with a word that indicates a category if it is meant literally.
const FIGURES_OF_SPEECH: [&str; 10] = [
    "Allergic to unnecessary meetings.",
    "Is addicted to crossword puzzles.",
    "Thinks bureaucracy is a disease.",
    "Recovering perfectionist.",
    "Says the espresso there was a religious experience.",
    "Worships at the altar of clean code.",
    "Ist allergisch gegen Bürokratie.",
    "Der Server hat wieder Fieber.",
    "Süchtig nach Schokolade.",
    "月曜アレルギーだと言う。",
];

/// The words of `FIGURES_OF_SPEECH` with their literal meaning.
const NOT_FIGURATIVE: [(&str, Special); 5] = [
    ("Allergic to meetings and peanuts.", Special::Health),
    ("Allergic to wasp stings and to meetings.", Special::Health),
    ("Was addicted to painkillers for a year.", Special::Health),
    ("Ist gegen Nüsse und gegen Meetings allergisch.", Special::Health),
    ("Das Kind hat Fieber, und der Drucker streikt.", Special::Health),
];

/// The number of sentences whose category was found, the number of sentences in which a category was wrongly found, and
/// a list of the mistakes.
fn counts(categories: &dyn Fn(&str) -> Vec<Special>) -> (usize, usize, String) {
    let missed: Vec<&str> = WITH_CATEGORY
        .iter()
        .filter(|(text, wanted)| !categories(text).contains(wanted))
        .map(|(text, _)| *text)
        .collect();
    let wrong: Vec<&str> = WITHOUT_CATEGORY.iter().filter(|text| !categories(text).is_empty()).copied().collect();
    (WITH_CATEGORY.len() - missed.len(), wrong.len(), format!("missed {missed:#?}, wrong {wrong:#?}"))
}

#[test]
fn words_alone_find_most_categories_and_few_wrong_ones() {
    let (found, wrong, which) = counts(&special);
    assert!(found >= 28 && wrong <= 2, "{found} found, {wrong} wrong: {which}");
}

#[test]
fn figures_of_speech_show_no_category() {
    for text in FIGURES_OF_SPEECH {
        assert!(special(text).is_empty(), "{text}");
    }
    for (text, wanted) in NOT_FIGURATIVE {
        assert!(special(text).contains(&wanted), "{text}");
    }
}

#[test]
fn a_school_or_a_late_year_of_birth_shows_a_minor() {
    for text in [
        "Emrys geht auf das Akademische Gymnasium.",
        "Mia besucht seit Herbst eine private Grundschule.",
        "Her daughter Ida was born on 9 July 2026.",
        "Orla goes to the local primary school.",
        "Die Enkelin wurde im Mai 2019 geboren.",
    ] {
        assert!(special(text).contains(&Special::Minors), "{text}");
    }
    assert!(!special("Besucht die Volkshochschule.").contains(&Special::Minors));
}

#[test]
fn the_weight_of_a_thing_is_no_health() {
    for text in ["Her accordion has 48 basses and weighs six kilos.", "Das Teleskop wiegt mit Stativ elf Kilo."] {
        assert!(!special(text).contains(&Special::Health), "{text}");
    }
    for text in
        ["Her brother weighs too much.", "The baby weighs three kilos.", "User weighs 81 kilos.", "Wiegt noch 81 Kilo."]
    {
        assert!(special(text).contains(&Special::Health), "{text}");
    }
}

#[test]
fn the_encoder_finds_more_categories_than_the_words() {
    let Some(folder) = std::env::var_os("MEMENTORY_WEIGHTS_DIR").map(PathBuf::from) else {
        eprintln!("SKIPPED: MEMENTORY_WEIGHTS_DIR is not set");
        return;
    };
    let encoder = Encoder::open(&folder).unwrap();
    let by_encoder = |text: &str| judge(text, &[encoder.encode(&[text])[0].as_slice()]).1;
    let (found, wrong, which) = counts(&by_encoder);
    assert!(found >= 34 && wrong <= 3, "{found} found, {wrong} wrong: {which}");
}
