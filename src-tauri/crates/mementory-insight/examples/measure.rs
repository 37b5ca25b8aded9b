//! Measures the suggestions on a folder with `labels.json`: `cargo run -p mementory-insight --example measure -- FOLDER`.
//! `MISSED=1` also lists what was wrong.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a tool for developers")]
use mementory_insight::{AboutKind, Special, about, special};
use serde_json::Value;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder with labels.json");
    let text = std::fs::read_to_string(std::path::Path::new(&folder).join("labels.json")).expect("labels.json");
    let labels: Value = serde_json::from_str(&text).expect("JSON");
    let missed = std::env::var_os("MISSED").is_some();
    let memories = labels["memories"].as_array().unwrap();
    kinds(memories, missed);
    specials(memories, missed);
}

fn kinds(memories: &[Value], missed: bool) {
    let mut by_language = std::collections::BTreeMap::<String, (u32, u32)>::new();
    for memory in memories {
        let text = memory["text"].as_str().unwrap();
        let wanted = AboutKind::parse(memory["kind"].as_str().unwrap()).expect("a known kind");
        let found = about(text);
        let right = found.is_some_and(|found| found.kind == wanted);
        for name in [memory["language"].as_str().unwrap(), "all"] {
            let counts = by_language.entry(name.to_owned()).or_default();
            counts.0 += u32::from(right);
            counts.1 += 1;
        }
        if missed && !right {
            let name = found.map_or("-".to_owned(), |f| format!("{} {:.2}", f.kind.as_str(), f.confidence));
            println!("  kind {} not {name}: {text}", wanted.as_str());
        }
    }
    for (language, (right, all)) in by_language {
        println!("kind right {language}: {right} of {all} = {:.3}", f64::from(right) / f64::from(all));
    }
}

fn specials(memories: &[Value], missed: bool) {
    let (mut found_right, mut found_all, mut wanted_all) = (0u32, 0u32, 0u32);
    for memory in memories {
        let text = memory["text"].as_str().unwrap();
        let wanted: Vec<Special> =
            memory["special"].as_array().unwrap().iter().filter_map(|s| Special::parse(s.as_str()?)).collect();
        let found = special(text);
        wanted_all += wanted.len() as u32;
        found_all += found.len() as u32;
        found_right += found.iter().filter(|class| wanted.contains(class)).count() as u32;
        if missed && found != wanted {
            println!("  special {wanted:?} found {found:?}: {text}");
        }
    }
    let share = |part: u32, all: u32| f64::from(part) / f64::from(all.max(1));
    println!("special recall {:.3} precision {:.3}", share(found_right, wanted_all), share(found_right, found_all));
}
