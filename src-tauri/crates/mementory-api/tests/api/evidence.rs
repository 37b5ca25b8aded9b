//! Tests the search for evidence that is worded differently from a memory or is in another language, in conversations
//! written for this test. Without the encoder's weights, only evidence in the same words is checked.
use mementory_api::{CreateOptions, Job, Session, types::*};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A memory, the two messages that were said before it was made, and who said the message that the memory is about.
struct Case {
    memory: &'static str,
    /// The message of the person, then the answer of the assistant.
    said: [&'static str; 2],
    said_by: &'static str,
}

const fn by_person(memory: &'static str, said: &'static str, answer: &'static str) -> Case {
    Case { memory, said: [said, answer], said_by: "user" }
}

/// Every memory is worded differently from its messages, and every third one is in another language.
const CASES: [Case; 18] = [
    by_person(
        "User cannot eat nuts.",
        "My throat swells when I eat almonds or hazelnuts. Any other snack?",
        "Then look at the label every time.",
    ),
    by_person(
        "User commutes by bicycle.",
        "Quick one. I pedal to the office whatever the weather. Which gloves?",
        "Thin wool under a shell.",
    ),
    by_person(
        "User is learning Italian.",
        "I study the language of Rome and Milan every evening. How do I say cheers?",
        "Say salute.",
    ),
    by_person(
        "User's sister is a vet.",
        "Meine Schwester Ruta behandelt Hunde und Katzen. Was schenke ich ihr?",
        "A good head torch.",
    ),
    by_person(
        "Die Nutzerin spart auf ein Segelboot.",
        "Jeden Monat lege ich 300 Euro für ein eigenes kleines Boot zurück. Wie lange dauert das?",
        "Etwa drei Jahre.",
    ),
    by_person(
        "Die Nutzerin arbeitet nachts.",
        "Meine Schicht im Labor fängt um zehn am Abend an. Wann soll ich essen?",
        "Um sieben und um zwei.",
    ),
    by_person(
        "Der Nutzer hat Höhenangst.",
        "I am afraid as soon as I stand high up on a ladder. How do I clean the gutter?",
        "Mit einer Stange vom Boden aus.",
    ),
    by_person(
        "Der Nutzer trinkt keinen Alkohol.",
        "Bier und Wein rühre ich nicht an. Was passt zu Käse?",
        "Traubensaft.",
    ),
    by_person("ユーザーは犬を二匹飼っている。", "うちの柴犬たちの散歩は朝と夜です。雨の日は？", "短めにしましょう。"),
    by_person(
        "ユーザーは来年引っ越す予定である。",
        "We give up the flat in spring and go north. Boxes?",
        "二十個で足ります。",
    ),
    by_person(
        "ユーザーは辛い料理が苦手である。",
        "唐辛子が入っていると一口も食べられない。代わりは？",
        "味噌はどうですか。",
    ),
    by_person(
        "ユーザーは教師として働いている。",
        "Ich unterrichte Physik am Gymnasium. Eine Idee für morgen?",
        "振り子の実験です。",
    ),
    by_person(
        "User wants answers without lists.",
        "Stop with the bullet points, from now on just write normal paragraphs.",
        "Understood.",
    ),
    by_person("Die Nutzerin ist Großmutter.", "Meine Enkelin kam am Montag zur Welt! Karte?", "Willkommen."),
    by_person(
        "User prefers window seats on trains.",
        "On the railway I like to sit where I can look outside. Which car is best to Basel?",
        "The 9:04 has places like that.",
    ),
    Case {
        memory: "User has three children.",
        said: [
            "What does the zoo cost for Ada, Finn and Mo on Saturday?",
            "For your three kids the family card is cheaper.",
        ],
        said_by: "assistant",
    },
    Case {
        memory: "Die Nutzerin mag moderne Architektur.",
        said: [
            "Plan mir einen Tag in Rotterdam.",
            "Du magst ja moderne Gebäude aus Glas und Beton. Also zuerst die Kubushäuser.",
        ],
        said_by: "assistant",
    },
    by_person(
        "ユーザーは合唱団で歌っている。",
        "Ich singe Alt in einem Kirchenchor. Was hilft gegen Heiserkeit?",
        "蜂蜜です。",
    ),
];

/// Memories without evidence, each with its day: days on which something unrelated was said, and days without any
/// conversation.
const WITHOUT_TRACE: [(&str, u32); 6] = [
    ("User collects Roman coins.", 1),
    ("Die Nutzerin ist in Porto geboren.", 3),
    ("ユーザーは青い車に乗っている。", 8),
    ("User was a professional diver.", 12),
    ("User's brother lives in Lima.", 25),
    ("Der Nutzer sammelt alte Radios.", 26),
];

fn message(id: &str, parent: Option<&str>, role: &str, time: u32, content: Value) -> Value {
    json!({"id": id, "parent": parent, "children": [], "message": {"id": id, "author": {"role": role},
        "create_time": time, "recipient": "all", "content": content, "metadata": {}}})
}

fn conversation(name: &str, time: u32, nodes: &[Value]) -> Value {
    let last = nodes.last().unwrap()["id"].clone();
    let mapping: serde_json::Map<String, Value> =
        nodes.iter().map(|node| (node["id"].as_str().unwrap().to_owned(), node.clone())).collect();
    json!({"id": name, "conversation_id": name, "title": name, "create_time": time, "update_time": time + 100,
        "current_node": last, "mapping": mapping})
}

/// Writes an export with a conversation for each case, each on a different day, and a final conversation that lists all
/// memories and their days.
fn export(folder: &Path) -> PathBuf {
    let start = 1_767_225_600; // 2026-01-01
    let text = |text: &str| json!({"content_type": "text", "parts": [text]});
    let mut all = Vec::new();
    let mut list = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        let time = start + 86_400 * number as u32 + 40_000;
        let ids = [0, 1].map(|n| format!("c{number}-{n}"));
        let user = message(&ids[0], None, "user", time, text(case.said[0]));
        let assistant = message(&ids[1], Some(&ids[0]), "assistant", time + 9, text(case.said[1]));
        all.push(conversation(&format!("c{number}"), time, &[user, assistant]));
        list.push((number as u32 + 1, case.memory));
    }
    list.extend(WITHOUT_TRACE.map(|(text, day)| (day, text)));
    let lines: Vec<String> = list
        .iter()
        .enumerate()
        .map(|(number, (day, text))| format!("{}. [2026-01-{day:02}]. {text}", number + 1))
        .collect();
    let context = json!({"content_type": "model_editable_context", "model_set_context": lines.join("\n\n")});
    let time = start + 86_400 * 40;
    let first = message("l0", None, "system", time, context);
    all.push(conversation("last", time, &[first, message("l1", Some("l0"), "user", time + 1, text("Hello."))]));
    let path = folder.join("conversations.json");
    std::fs::write(&path, Value::from(all).to_string()).unwrap();
    path
}

fn memories(session: &Session) -> Vec<(String, String)> {
    let filter = Filter { kind: Some("memory".into()), ..Filter::default() };
    let request = ListRequest { filter, limit: Some(500), ..ListRequest::default() };
    session.records().list(&request).unwrap().items.into_iter().map(|item| (item.text, item.id)).collect()
}

fn imported(folder: &Path, paths: &[PathBuf]) -> Session {
    let passphrase = "harbour copper nineteen kite lantern";
    let session = Session::create(&folder.join("v"), passphrase, CreateOptions { kdf_floor: true }).unwrap().0;
    for path in paths {
        let request = ImportRequest { paths: vec![path.display().to_string()], ..ImportRequest::default() };
        session.imports().import(&request, false, &Job::silent()).unwrap();
    }
    session
}

fn has_weights() -> bool {
    mementory_api::weights::folder().is_some()
}

#[test]
fn evidence_in_other_words_is_found_and_none_is_found_for_what_was_not_said() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(folder.path(), &[export(folder.path())]);
    let all = memories(&session);
    assert_eq!(all.len(), CASES.len() + WITHOUT_TRACE.len());
    let (mut right, mut speakers, mut wrong, mut missed) = (0, 0, Vec::new(), Vec::new());
    let (mut without_trace, mut said_without_trace) = (0, 0);
    for (text, id) in &all {
        let evidence = session.memory_evidence().of(id).unwrap();
        let first = evidence.messages.first().map(|message| message.text.as_str());
        match (CASES.iter().find(|case| case.memory == text), first) {
            (Some(case), Some(sentence)) => {
                let said = if case.said_by == "user" { case.said[0] } else { case.said[1] };
                if said.contains(sentence) {
                    right += 1;
                    speakers += usize::from(evidence.said_by == case.said_by);
                } else {
                    wrong.push((text, sentence.to_owned()));
                }
            }
            (None, Some(sentence)) => wrong.push((text, sentence.to_owned())),
            (Some(_), None) => {
                said_without_trace += usize::from(evidence.trace == "none");
                missed.push(text);
            }
            (None, None) => {
                assert_eq!(evidence.said_by, "unknown");
                let day = WITHOUT_TRACE.iter().find(|(memory, _)| memory == text).unwrap().1;
                let has_conversation = day as usize <= CASES.len();
                assert!(evidence.trace == "unknown" || has_weights() && has_conversation, "{text}: {}", evidence.trace);
                without_trace += usize::from(evidence.trace == "none");
            }
        }
    }
    assert!(said_without_trace <= 1, "it was said, so it has a trace: {missed:?}");
    assert!(wrong.len() <= 2, "a wrong message is worse than none: {wrong:?}");
    if has_weights() {
        assert!(
            right >= 15 && speakers >= 14,
            "{right} right, {speakers} speakers, wrong {wrong:?}, missed {missed:?}"
        );
        assert!(without_trace >= 2, "{without_trace} of 4 memories of a day with a conversation have no trace");
    }
}

#[test]
fn who_said_a_memory_is_uncertain_if_only_the_meaning_is_similar() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(folder.path(), &[export(folder.path())]);
    let (mut certain, mut uncertain) = (0, 0);
    for (_, id) in memories(&session) {
        let evidence = session.memory_evidence().of(&id).unwrap();
        let of_speaker = evidence.messages.iter().filter(|message| message.said_by == evidence.said_by);
        let ways: Vec<&str> = of_speaker.map(|message| message.how.as_str()).collect();
        assert_eq!(evidence.uncertain, !ways.is_empty() && ways.iter().all(|way| *way == "meaning"), "{ways:?}");
        if evidence.said_by == "user" {
            *if evidence.uncertain { &mut uncertain } else { &mut certain } += 1;
        }
    }
    assert_eq!(uncertain > 0, has_weights(), "only the encoder finds a similar meaning");
    let out = folder.path().join("report.html");
    session.review().report(&out, &ReportRequest::default(), &Job::silent()).unwrap();
    let html = std::fs::read_to_string(&out).unwrap();
    for (origin, n) in [("I said it", certain), ("I may have said it", uncertain)] {
        let (_, row) = html.split_once(&format!(">{origin}<")).unwrap();
        let (row, _) = row.split_once("</tr>").unwrap();
        assert!(row.contains(&format!(">{n}<")), "{origin}: {row}");
    }
}

/// Writes an export with two memories: one of a day with few messages, and one of a day with so many messages that not
/// all of them can be compared.
fn write_busy_day_export(folder: &Path) -> PathBuf {
    let start = 1_767_225_600; // 2026-01-01
    let text = |text: &str| json!({"content_type": "text", "parts": [text]});
    let conversation_of_day = |day: u32, count: usize| {
        let time = start + 86_400 * day + 40_000;
        let id = |n: usize| format!("d{day}-{n}");
        let node = |n: usize| {
            let parent = n.checked_sub(1).map(id);
            let said = format!("What is {n} plus {n}? The train leaves at noon.");
            message(&id(n), parent.as_deref(), "user", time + n as u32, text(&said))
        };
        conversation(&format!("d{day}"), time, &(0..count).map(node).collect::<Vec<_>>())
    };
    let lines = "1. [2026-01-02]. User collects Roman coins.\n\n2. [2026-01-20]. User collects Roman coins in albums.";
    let context = json!({"content_type": "model_editable_context", "model_set_context": lines});
    let first = message("l0", None, "system", start + 86_400 * 40, context);
    let path = folder.join("conversations.json");
    let all =
        [conversation_of_day(1, 4), conversation_of_day(19, 250), conversation("last", start + 86_400 * 40, &[first])];
    std::fs::write(&path, Value::from(all.to_vec()).to_string()).unwrap();
    path
}

#[test]
fn a_memory_has_no_trace_only_if_everything_was_compared() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(folder.path(), &[write_busy_day_export(folder.path())]);
    for (text, id) in memories(&session) {
        let wanted = if has_weights() && !text.contains("albums") { "none" } else { "unknown" };
        assert_eq!(session.memory_evidence().of(&id).unwrap().trace, wanted, "{text}");
    }
}

#[test]
fn a_message_from_another_time_needs_more_than_a_similar_subject() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(folder.path(), &[export(folder.path()), write_second_assistant_export(folder.path())]);
    let said = |text: &str| {
        let all = memories(&session);
        let id = &all.iter().find(|(found, _)| found == text).unwrap().1;
        session.memory_evidence().of(id).unwrap().messages.into_iter().next().map(|message| message.text)
    };
    assert_eq!(said(SECOND_ASSISTANT_MEMORIES[0]).as_deref(), Some("Meine Schwester Ruta behandelt Hunde und Katzen."));
    for text in &SECOND_ASSISTANT_MEMORIES[1..] {
        assert_eq!(said(text), None, "{text}");
    }
}

/// Memories of a second assistant. The content of the first memory was said to the first assistant, in a conversation
/// that `export` writes. The other memories only have a subject in common with the conversations that `export` writes.
const SECOND_ASSISTANT_MEMORIES: [&str; 4] = [
    "Schwester Ruta behandelt Hunde und Katzen in ihrer Praxis",
    "Once sold a bicycle to a neighbour",
    "Mag am liebsten den Käse aus den Alpen",
    "Read a book about the history of the zoo",
];

fn write_second_assistant_export(folder: &Path) -> PathBuf {
    let entries: Vec<Value> = SECOND_ASSISTANT_MEMORIES
        .iter()
        .enumerate()
        .map(|(n, text)| {
            json!({"id": format!("e{n}"), "memory": text, "user_id": "ines", "hash": text, "updated_at": null,
                "created_at": "2026-03-09T09:00:00Z", "categories": null, "metadata": null})
        })
        .collect();
    let path = folder.join("elsewhere.json");
    std::fs::write(&path, json!({"results": entries}).to_string()).unwrap();
    path
}
