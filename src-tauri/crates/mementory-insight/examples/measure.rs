//! Measures how often the suggestions of this crate are right, on a folder with `labels.json`. Usage: `cargo run -p
//! mementory-insight --example measure -- FOLDER`. With `MISSED=1`, also lists the wrong suggestions.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a tool for developers")]
use mementory_insight::{AboutKind, Special, Statement, about, contradictions, special, topics};
use serde_json::Value;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder with labels.json");
    let text = std::fs::read_to_string(std::path::Path::new(&folder).join("labels.json")).expect("labels.json");
    let labels: Value = serde_json::from_str(&text).expect("JSON");
    let missed = std::env::var_os("MISSED").is_some();
    let memories = labels["memories"].as_array().unwrap();
    kinds(memories, missed);
    specials(memories, missed);
    pairs(&labels, memories, missed);
    clusters(memories, missed);
}

fn kinds(memories: &[Value], missed: bool) {
    let mut by_language = std::collections::BTreeMap::<String, (u32, u32)>::new();
    for memory in memories {
        let text = memory["text"].as_str().unwrap();
        let wanted = AboutKind::parse(memory["kind"].as_str().unwrap()).expect("a known kind");
        let suggestion = about(text);
        let right = suggestion.is_some_and(|suggestion| suggestion.kind == wanted);
        for name in [memory["language"].as_str().unwrap(), "all"] {
            let counts = by_language.entry(name.to_owned()).or_default();
            counts.0 += u32::from(right);
            counts.1 += 1;
        }
        if missed && !right {
            let name = suggestion.map_or("-".to_owned(), |f| format!("{} {:.2}", f.kind.as_str(), f.confidence));
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
        let suggested = special(text);
        wanted_all += wanted.len() as u32;
        found_all += suggested.len() as u32;
        found_right += suggested.iter().filter(|class| wanted.contains(class)).count() as u32;
        if missed && suggested != wanted {
            println!("  special {wanted:?} found {suggested:?}: {text}");
        }
    }
    let share = |part: u32, all: u32| f64::from(part) / f64::from(all.max(1));
    println!("special recall {:.3} precision {:.3}", share(found_right, wanted_all), share(found_right, found_all));
}

fn pairs(labels: &Value, memories: &[Value], missed: bool) {
    let text_of = |n: usize| memories[n]["text"].as_str().unwrap();
    let at = |memory: &Value| {
        let created = memory["created"].as_str()?;
        // The digits of the date and time are enough to order the memories.
        created.chars().filter(char::is_ascii_digit).take(14).collect::<String>().parse::<i64>().ok()
    };
    let statements: Vec<Statement<'_>> =
        memories.iter().map(|memory| Statement { text: memory["text"].as_str().unwrap(), at: at(memory) }).collect();
    let set = |name: &str| -> Vec<(String, String)> {
        let list = labels[name].as_array().cloned().unwrap_or_default();
        let text = |pair: &Value, side: &str| pair[side].as_str().unwrap().to_owned();
        list.iter().map(|pair| (text(pair, "a"), text(pair, "b"))).collect()
    };
    let (wanted, arguable) = (set("contradictions"), set("contradictions_arguable"));
    let has = |list: &[(String, String)], a: &str, b: &str| {
        list.iter().any(|(x, y)| (x == a && y == b) || (x == b && y == a))
    };
    let found_pairs = contradictions(&statements, &[]);
    let (mut right, mut wrong, mut open) = (0u32, 0u32, 0u32);
    for pair in &found_pairs {
        let (a, b) = (text_of(pair.a), text_of(pair.b));
        if has(&wanted, a, b) {
            right += 1;
        } else if has(&arguable, a, b) {
            open += 1;
        } else {
            wrong += 1;
            if missed {
                println!("  pair wrong {:.2}: {a} || {b}", pair.confidence);
            }
        }
    }
    if missed {
        let is_found = |(a, b): &&(String, String)| {
            found_pairs.iter().any(|p| {
                let (x, y) = (text_of(p.a), text_of(p.b));
                (x == a && y == b) || (x == b && y == a)
            })
        };
        wanted.iter().filter(|pair| !is_found(pair)).for_each(|(a, b)| println!("  pair missed: {a} || {b}"));
    }
    println!(
        "contradictions precision {:.3} recall {:.3} ({right} right, {wrong} wrong, {open} arguable, {} wanted)",
        f64::from(right) / f64::from((right + wrong).max(1)),
        f64::from(right) / wanted.len().max(1) as f64,
        wanted.len()
    );
}

fn clusters(memories: &[Value], missed: bool) {
    let texts: Vec<&str> = memories.iter().map(|memory| memory["text"].as_str().unwrap()).collect();
    let (mut pure, mut placed) = (0usize, 0usize);
    let found_topics = topics(&texts, &[]);
    for topic in &found_topics {
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        for n in &topic.members {
            *counts.entry(memories[*n]["topic"].as_str().unwrap()).or_default() += 1;
        }
        pure += counts.values().max().unwrap_or(&0);
        placed += topic.members.len();
        if missed {
            println!("  topic {:?}: {counts:?}", topic.name);
        }
    }
    println!(
        "topics purity {:.3}, {} topics hold {placed} of {}",
        pure as f64 / placed.max(1) as f64,
        found_topics.len(),
        texts.len()
    );
}
