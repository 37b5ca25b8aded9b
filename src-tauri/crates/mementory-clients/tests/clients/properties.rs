//! Connects and disconnects random configurations. Disconnecting must restore the original bytes, and the connected
//! configuration must contain the original values and the server.

use crate::testing::{Home, now, server};
use mementory_clients::{Client, plan_connect, plan_disconnect};
use proptest::prelude::*;
use std::fs;

/// Whitespace and comments as they occur in files that people edit.
fn space(comments: bool) -> impl Strategy<Value = String> {
    let plain = prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        2 => Just("\n\t".to_owned()),
        2 => Just("\r\n    ".to_owned()),
        1 => Just("\n\n".to_owned()),
    ];
    let comment = prop_oneof![
        Just(String::new()),
        Just(String::new()),
        Just("/* , { \" */".to_owned()),
        Just("// }, */ \"x\"\n".to_owned()),
        Just("// ü\r\n".to_owned()),
    ];
    (plain.clone(), comment, plain)
        .prop_map(move |(before, comment, after)| if comments { before + &comment + &after } else { before + &after })
}

fn object(members: Vec<(String, String)>, comments: bool) -> impl Strategy<Value = String> {
    let count = members.len();
    let spaces = proptest::collection::vec(space(comments), 3 * count + 1);
    (spaces, any::<bool>()).prop_map(move |(spaces, trailing)| {
        let mut out = String::from("{");
        for (index, (name, value)) in members.iter().enumerate() {
            let [before, middle, after] = [&spaces[3 * index], &spaces[3 * index + 1], &spaces[3 * index + 2]];
            let comma = if index + 1 < count || trailing && comments { "," } else { "" };
            out += &format!("{before}\"{name}\":{middle}{value}{after}{comma}");
        }
        out + &spaces[3 * count] + "}"
    })
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_owned()),
        Just("\"// no comment, }\"".to_owned()),
        Just("[1, {\"mementory\": {}}]".to_owned()),
        Just("{}".to_owned()),
        Just("{\n \"command\": \"x\"\n}".to_owned()),
        "\"[a-z\\u{e0}-\\u{ff}]{0,8}\"",
    ]
}

fn members(prefix: &'static str) -> impl Strategy<Value = Vec<(String, String)>> {
    proptest::collection::vec(value(), 0..4).prop_map(move |values| {
        values.into_iter().enumerate().map(|(index, value)| (format!("{prefix}{index}"), value)).collect()
    })
}

/// A random configuration of a JSON client, with or without servers.
fn json(section: &'static str, comments: bool) -> impl Strategy<Value = String> {
    let servers = members("s").prop_flat_map(move |servers| object(servers, comments));
    (members("m"), proptest::option::of(servers), any::<prop::sample::Index>())
        .prop_flat_map(move |(mut members, servers, at)| {
            if let Some(servers) = servers {
                let at = at.index(members.len() + 1);
                members.insert(at, (section.into(), servers));
            }
            (space(comments), object(members, comments), space(comments), any::<bool>())
        })
        .prop_map(|(before, object, after, bom)| {
            format!("{}{before}{object}{after}", if bom { "\u{feff}" } else { "" })
        })
}

fn toml() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# a comment".to_owned()),
        Just(String::new()),
        Just("  # indented".to_owned()),
        Just("KEY = \"x # no comment\"".to_owned()),
        Just("KEY = [\n  1, # one\n  2,\n]".to_owned()),
        Just("KEY = { a = 1 } # inline".to_owned()),
        Just("KEY.b.c = 1979-05-27".to_owned()),
        Just("KEY = \"\"\"\n[mcp_servers.mementory]\n\"\"\"".to_owned()),
        Just("[table.KEY]".to_owned()),
        Just("[[list.KEY]]".to_owned()),
        Just("[mcp_servers.KEY]".to_owned()),
        Just(" [ mcp_servers . KEY . env ] # spaced".to_owned()),
    ];
    let first = prop_oneof![
        3 => Just(""),
        1 => Just("mcp_servers = { s = { command = 'x' }, t = { url = \"y\" } }"),
        1 => Just("mcp_servers = { }"),
        1 => Just("mcp_servers.s.command = 'x'"),
        1 => Just("[mcp_servers]\nother = { command = 'x' }"),
    ];
    (first, proptest::collection::vec(line, 0..8), any::<bool>(), any::<bool>()).prop_map(
        |(first, lines, crlf, end)| {
            let lines = lines.iter().enumerate().map(|(index, line)| line.replace("KEY", &format!("k{index}")));
            let mut text = [first.to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n");
            if end {
                text.push('\n');
            }
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

/// Connects and disconnects. Returns the connected text, or None if the document is not valid.
fn round_trip(client: Client, text: &str) -> Option<String> {
    let home = Home::new();
    let path = home.write(client, text);
    let plan = match plan_connect(client, &home.places, &server()) {
        Ok(plan) => plan,
        // Some of the random TOML documents are invalid, because a header must not extend an inline table.
        Err(error) => {
            assert_eq!((client, error.code()), (Client::Codex, "config_broken"), "{text:?}: {error}");
            return None;
        }
    };
    plan.apply(now()).unwrap();
    let connected = fs::read_to_string(&path).unwrap();
    assert_ne!(connected, text);
    assert!(!plan_connect(client, &home.places, &server()).unwrap().changes());
    plan_disconnect(client, &home.places, "mementory").unwrap().apply(now()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "connected: {connected}");
    Some(connected)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_with_comments_is_restored(text in json("context_servers", true)) {
        round_trip(Client::Zed, &text);
    }

    #[test]
    fn strict_json_is_restored(text in json("mcpServers", false)) {
        let connected = round_trip(Client::ClaudeCode, &text).unwrap();
        let value = |text: &str| -> serde_json::Value {
            serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).unwrap()
        };
        let (before, mut after) = (value(&text), value(&connected));
        let entry = after["mcpServers"].as_object_mut().unwrap().remove("mementory").unwrap();
        prop_assert_eq!(entry["command"].as_str(), Some("/opt/Mementory/mementory-mcp"));
        if before.get("mcpServers").is_none() {
            after.as_object_mut().unwrap().remove("mcpServers");
        }
        prop_assert_eq!(before, after, "everything else reads as before");
    }


    #[test]
    fn any_text_is_refused_or_restored(text in "[{}\\[\\]\",:/* \n\ta=#.'\\\\]{0,40}") {
        for client in [Client::Zed, Client::Codex, Client::ClaudeDesktop] {
            let home = Home::new();
            let path = home.write(client, &text);
            if let Ok(plan) = plan_connect(client, &home.places, &server()) {
                plan.apply(now()).unwrap();
                plan_disconnect(client, &home.places, "mementory").unwrap().apply(now()).unwrap();
            }
            prop_assert_eq!(fs::read_to_string(&path).unwrap(), text.clone());
        }
    }
}

#[test]
fn toml_is_restored() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) };
    let valid = std::cell::Cell::new(0);
    proptest::test_runner::TestRunner::new(config)
        .run(&toml(), |text| {
            valid.set(valid.get() + usize::from(round_trip(Client::Codex, &text).is_some()));
            Ok(())
        })
        .unwrap();
    assert!(valid.get() > 75, "only {} of 150 documents were valid", valid.get());
}
