//! Every folder of `fixtures/generic_chat` has an input and the expected result.
#![allow(clippy::unwrap_used)]
use super::GenericChat;
use crate::cases::{check_cases, check_texts_are_in_one_verbatim, claiming, import_with, try_import_with};
use mementory_format::{FormatError, testkit::Scratch};
use mementory_model::Limits;
use rusqlite::Connection;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&GenericChat);
}

#[test]
fn a_question_is_not_in_the_verbatim_of_its_answer() {
    check_texts_are_in_one_verbatim(
        &GenericChat,
        &[
            "chat_history",
            "gemini_pairs",
            "webui_pairs",
            "prompts",
            "anything_llm",
            "anything_llm_table",
            "api_answers",
            "api_both",
            "api_preferences",
            "api_requests",
            "api_saved",
            "compliance",
            "compliance_log",
            "llm_database_loose",
            "llm_json",
            "replika",
            "speaker_pairs",
            "amazon_q",
            "amazon_q_pairs",
            "amazon_q_notices",
            "amazon_q_untimed",
            "amazon_q_untimed_shortened",
        ],
    );
}

#[test]
fn a_chat_of_a_known_format_is_claimed_only_by_it() {
    let scratch = Scratch::new("known");
    scratch.put("a.json", r#"[{"uuid":"c","name":"n","chat_messages":[{"uuid":"a","sender":"human","text":"hi"}]}]"#);
    assert_eq!(claiming(&scratch.at("a.json")), ["claude"]);
    scratch.put(
        "b.json",
        r#"[{"id":"c","chat":{"history":{"currentId":"m","messages":{"m":{"role":"user","content":"hi"}}}}}]"#,
    );
    assert_eq!(claiming(&scratch.at("b.json")), ["open_webui"]);
}

#[test]
fn chats_without_ids_that_begin_alike_at_other_times_are_not_one() {
    let scratch = Scratch::new("alike");
    let key = |(before, after): (&str, &str), day: u32, more: &str| {
        let message = |role: &str, text: &str, minute: u32| {
            format!(r#"{{"role":"{role}","content":"{text}","timestamp":"2026-03-0{day}T10:0{minute}:00Z"}}"#)
        };
        let messages = [message("user", "Hi", 1), message("assistant", "Hello", 2), message("user", more, 3)];
        let path = scratch.put("chat.json", format!("{before}{}{after}", messages.join(",")));
        crate::testing::read(&path, &GenericChat).records[0].key.value.clone()
    };
    for form in [(r#"{"title":"New chat","messages":["#, "]}"), ("[", "]")] {
        assert_ne!(key(form, 1, "Leeks?"), key(form, 2, "Bees?"), "{form:?}");
        assert_eq!(key(form, 1, "Leeks?"), key(form, 1, "Leeks? Or onions?"), "{form:?}");
    }
}

#[test]
fn a_second_export_with_one_more_message_keeps_all_keys() {
    let scratch = Scratch::new("again");
    let keys = |messages: &str| {
        let path = scratch.put("chat.json", format!(r#"{{"title":"t","messages":[{messages}]}}"#));
        crate::testing::read(&path, &GenericChat).records.into_iter().map(|r| r.key).collect::<Vec<_>>()
    };
    let two = r#"{"role":"user","content":"One"},{"role":"assistant","content":"Two"}"#;
    let (first, second) = (keys(two), keys(&format!(r#"{two},{{"role":"user","content":"Three"}}"#)));
    assert_eq!(first[..], second[..3]);
    let other = keys(r#"{"role":"user","content":"One"},{"role":"assistant","content":"Another answer"}"#);
    assert_ne!(first[0], other[0]);
}

#[test]
fn a_longer_export_of_a_chat_with_a_character_keeps_its_keys_if_something_identifies_it() {
    let scratch = Scratch::new("role_play");
    let keys = |id: &str, time: &str, texts: &[&str]| {
        let message = |text: &&str| format!(r#"{{"role":"user","data":"{text}"{time}}}"#);
        let messages: Vec<String> = texts.iter().map(message).collect();
        let chat = format!(r#"{{"type":"risuChat","ver":2,"data":{{{id}"message":[{}]}}}}"#, messages.join(","));
        let records = crate::testing::read(&scratch.put("chat.json", chat), &GenericChat).records;
        records.into_iter().map(|r| r.key).collect::<Vec<_>>()
    };
    let grows =
        |id: &str, time: &str| keys(id, time, &["One", "Two"])[0] == keys(id, time, &["One", "Two", "Three"])[0];
    assert!(grows(r#""id":"c1","#, ""));
    assert!(grows("", r#","chatId":"m1""#));
    assert!(grows("", r#","time":1768032000000"#));
    assert!(!grows("", ""));
    assert_ne!(keys("", r#","time":1768032000000"#, &["One"]), keys("", r#","time":1768032000001"#, &["One"]));
}

#[test]
fn a_session_of_kiro_that_was_shortened_and_went_on_keeps_all_keys() {
    let scratch = Scratch::new("shortened");
    let keys = |entries: &[String]| {
        let text = format!(r#"{{"conversation_id":"k","history":[{}]}}"#, entries.join(","));
        let path = scratch.put("chat.json", text);
        crate::testing::read(&path, &GenericChat).records.into_iter().skip(1).map(|r| r.key).collect::<Vec<_>>()
    };
    let pair = |prompt: &str, answer: &str| {
        let answer = format!(r#"{{"Response":{{"message_id":null,"content":"{answer}"}}}}"#);
        format!(r#"[{{"content":{{"Prompt":{{"prompt":"{prompt}"}}}}}},{answer}]"#)
    };
    let pairs = [pair("Go on", "Done."), pair("Which?", "Both."), pair("Go on", "Done."), pair("Why?", "So.")];
    let (first, second) = (keys(&pairs[..3]), keys(&pairs[1..]));
    assert_eq!((first.len(), second.len()), (6, 6));
    assert_eq!(first[2..4], second[..2]);
    assert_eq!(second.iter().filter(|key| !first.contains(key)).count(), 2);
    // When the program shortens a session, it writes the results of tools as a prompt.
    let entry = |content: &str| {
        let user = format!(r#"{{"content":{content},"timestamp":null}}"#);
        let answer = r#"{"Response":{"message_id":null,"content":"Done."}}"#;
        format!(
            r#"{{"user":{user},"assistant":{answer},"request_metadata":{{"request_start_timestamp_ms":1775369000000}}}}"#
        )
    };
    let results = r#"{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"t","content":[{"Text":"a.md"}]}]}}"#;
    let before = keys(&[pair("Which?", "I look."), entry(results)]);
    assert_eq!(before[2..], keys(&[entry(r#"{"Prompt":{"prompt":"a.md"}}"#)]));
}

#[test]
fn a_session_of_kiro_with_several_rows_that_is_too_large_drops_no_other_session() {
    let scratch = Scratch::new("rows");
    let path = scratch.at("data.sqlite3");
    let database = Connection::open(&path).unwrap();
    let tables = "CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT);
        CREATE TABLE conversations (key TEXT, value TEXT);
        CREATE TABLE auth_kv (key TEXT, value TEXT);";
    database.execute_batch(tables).unwrap();
    let session = |id: &str, prompt: &str| {
        let answer = format!(r#"{{"Response":{{"message_id":"m-{id}","content":"Yes."}}}}"#);
        format!(
            r#"{{"conversation_id":"{id}","history":[[{{"content":{{"Prompt":{{"prompt":"{prompt}"}}}}}},{answer}]]}}"#
        )
    };
    let add = |table: &str, folder: &str, id: &str, prompt: &str| {
        let sql = format!("INSERT INTO {table} (key, value) VALUES (?1, ?2)");
        database.execute(&sql, [folder, session(id, prompt).as_str()]).unwrap();
    };
    let long = "Is it so? ".repeat(500);
    for folder in ["/mill", "/pond"] {
        add("conversations_v2", folder, "large", &long);
    }
    // These rows are read, because the session that is too large does not count towards the limit.
    for folder in ["/mill", "/pond"] {
        add("conversations_v2", folder, "small", "Is it near?");
    }
    add("conversations_v2", "/mill", "single", "Is it deep?");
    add("conversations", "/mill", "large", "Is it old?");
    drop(database);
    let limits = Limits { element_bytes: 4000, ..Limits::default() };
    let (_, imported) = import_with(&path, &GenericChat, limits);
    let prompts: Vec<_> =
        imported.records.iter().filter(|r| r.text.starts_with("Is it")).map(|r| r.text.as_str()).collect();
    assert_eq!(prompts, ["Is it deep?", "Is it near?", "Is it old?"]);
    let too_large = imported.dropped.iter().filter(|dropped| dropped.reason.starts_with("too_large"));
    assert_eq!(too_large.count(), 2, "{:?}", imported.dropped);
}

#[test]
fn messages_of_a_compliance_log_beyond_the_limit_are_reported_and_those_before_are_read() {
    let scratch = Scratch::new("compliance");
    let line = |number: usize| {
        let author = r#"{"role":"user"}"#;
        let content = format!(r#"{{"type":"text","value":"{} {number}"}}"#, "Is it dry?".repeat(20));
        let message = format!(r#"{{"id":"m-{number}","author":{author},"content":{content},"created_at":{number}.5}}"#);
        format!(r#"{{"object":"compliance.workspace.conversation","id":"c-1","title":"Roof","message":{message}}}"#)
    };
    let lines: Vec<String> = (1..=8).map(line).collect();
    let path = scratch.put("log.jsonl", lines.join("\n"));
    let limits = Limits { element_bytes: lines[..5].iter().map(|line| line.len() as u64).sum(), ..Limits::default() };
    let (_, imported) = import_with(&path, &GenericChat, limits);
    assert_eq!(imported.records.iter().filter(|record| record.message.is_some()).count(), 5);
    assert_eq!(imported.dropped.len(), 3, "{:?}", imported.dropped);
    assert!(imported.dropped.iter().all(|dropped| dropped.reason.starts_with("too_large")));
}

#[test]
fn a_database_of_llm_whose_prompts_repeat_a_fragment_too_often_is_refused() {
    let scratch = Scratch::new("fragments");
    let database_with = |name: &str, prompts: u32| {
        let path = scratch.at(name);
        let sql = format!(
            "CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
            CREATE TABLE responses (id TEXT PRIMARY KEY, prompt TEXT, response TEXT, conversation_id TEXT,
                datetime_utc TEXT);
            CREATE TABLE fragments (id INTEGER PRIMARY KEY, source TEXT, content TEXT);
            CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, \"order\" INTEGER,
                PRIMARY KEY (response_id, fragment_id, \"order\"));
            INSERT INTO fragments VALUES (1, 'novel.txt', hex(zeroblob(30000)));
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {prompts})
                INSERT INTO responses SELECT n, 'Who?', 'Mo.', NULL, NULL FROM numbers;
            INSERT INTO prompt_fragments SELECT id, 1, 0 FROM responses;"
        );
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        path
    };
    let limits = Limits { expanded_bytes: 0, ..Limits::default() };
    let (_, imported) = import_with(&database_with("few.db", 3), &GenericChat, limits.clone());
    assert_eq!(imported.records.len(), 9);
    let refused = try_import_with(&database_with("many.db", 300), &GenericChat, limits);
    assert!(matches!(refused, Err(FormatError::Limit { limit: "expanded_bytes", .. })));
}
