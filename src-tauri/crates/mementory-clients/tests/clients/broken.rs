//! Tests that broken configurations (`broken/cases.json`) are refused, that the error names the position, and that the
//! file is unchanged.

use crate::testing::{Home, data, server};
use mementory_clients::{Client, Error, plan_connect, plan_disconnect};
use serde::Deserialize;
use std::fs;

#[derive(Deserialize)]
struct Case {
    client: String,
    file: String,
    code: String,
    line: Option<usize>,
    column: Option<usize>,
}

fn place(error: &Error) -> (Option<usize>, Option<usize>) {
    match error {
        Error::Syntax { line, column, .. } | Error::Layout { line, column, .. } => (Some(*line), Some(*column)),
        _ => (None, None),
    }
}

#[test]
fn an_invalid_configuration_is_refused_with_its_position() {
    let cases: Vec<Case> = serde_json::from_slice(&fs::read(data("broken/cases.json")).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let client = Client::parse(&case.client).unwrap();
        let home = Home::new();
        home.write(client, fs::read(data("broken").join(&case.file)).unwrap());
        let before = home.files();
        let connect = plan_connect(client, &home.places, &server()).err();
        let disconnect = plan_disconnect(client, &home.places, "mementory").err();
        for error in [connect, disconnect] {
            let code_and_place = error.as_ref().map(|error| (error.code().to_owned(), place(error)));
            if code_and_place != Some((case.code.clone(), (case.line, case.column))) {
                wrong.push(format!(
                    "{} {}: {code_and_place:?} {:?}",
                    case.client,
                    case.file,
                    error.map(|e| e.to_string())
                ));
            }
        }
        assert_eq!(home.files(), before);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn deep_nesting_is_refused() {
    for (client, open) in [(Client::Zed, "{\"a\":"), (Client::ClaudeCode, "["), (Client::Codex, "[")] {
        let home = Home::new();
        let prefix = if client == Client::Codex { "a = " } else { "" };
        home.write(client, format!("{prefix}{}", open.repeat(100_000)));
        let error = plan_connect(client, &home.places, &server()).err().unwrap();
        assert_eq!(error.code(), "config_broken", "{error}");
    }
}
