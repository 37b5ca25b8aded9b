#![allow(clippy::unwrap_used)]
use super::Copilot;
use crate::cases::{check_cases_under_any_name, check_sample, keys};
use crate::detect;
use crate::testing::read;
use mementory_format::{Catalog, testkit::Scratch};
use mementory_model::{Kind, Limits};

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    check_cases_under_any_name(&Copilot);
}

#[test]
fn the_sample_is_read_completely() {
    let Some(imported) = check_sample("09-copilot", &Copilot) else { return };
    let first = imported.records.iter().find(|record| record.kind == Kind::Message).unwrap();
    assert_eq!(first.text, "how do I stop slugs, \"kindly\"?", "newest first in the file, oldest first here");
}

#[test]
fn a_later_export_repeats_the_keys_of_an_earlier_one() {
    let earlier = "Conversation,Time,Author,Message\r\nLeeks,2026-01-02T10:00:05,AI,In May.\r\nLeeks,2026-01-02T10:00:05,Human,When?\r\n";
    let later = earlier.replace(
        "Message\r\n",
        "Message\r\nNew,2026-02-01T08:00:00,Human,Hi\r\nLeeks,2026-01-02T10:01:00,Human,Thanks\r\n",
    );
    let scratch = Scratch::new("copilot-later");
    let earlier = keys(&read(&scratch.put("a.csv", earlier), &Copilot));
    let later = keys(&read(&scratch.put("b.csv", later), &Copilot));
    assert!(earlier.iter().all(|key| later.contains(key)), "{earlier:?} {later:?}");
    assert_eq!(later.len(), earlier.len() + 3);
}

#[test]
fn tables_of_other_programs_are_not_claimed() {
    for text in [
        "Conversation,Time,Author,Message\nTeam,2026-01-01T00:00:00,Peter,hello\nTeam,2026-01-01T00:01:00,Mira,hi\n",
        "Date,Author,Text\n2026-01-01,user,x\n",
        "App,Time,Name\nx,2026-01-01,y\n",
        "id;title;time\n1;x;2026-01-01\n",
        "Conversation\n",
    ] {
        let limits = Limits::default();
        let catalog = Catalog::from_text(text, &limits);
        let detection = detect(&catalog, &limits, None).unwrap();
        assert!(detection.sources.iter().all(|source| source.format != "copilot"), "{text}");
    }
}
