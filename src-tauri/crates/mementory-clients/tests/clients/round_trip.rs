//! Every configuration in `configs/<client>/` is connected, connected again and disconnected. The expected text after
//! connecting is in `<name>.connected.<ending>`; `MEMENTORY_UPDATE=1` writes these files.

use crate::testing::{Home, data, now, server};
use mementory_clients::{Client, plan_connect, plan_disconnect};
use std::{fs, path::PathBuf};

/// The cases: the client, the configuration, and the file with the expected text after connecting.
fn cases() -> Vec<(Client, PathBuf, PathBuf)> {
    let mut cases = Vec::new();
    for client in Client::ALL {
        for entry in fs::read_dir(data("configs").join(client.id())).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            if !stem.ends_with(".connected") {
                let ending = path.extension().unwrap().to_string_lossy().into_owned();
                let connected = path.with_file_name(format!("{stem}.connected.{ending}"));
                cases.push((client, path, connected));
            }
        }
    }
    assert!(cases.len() >= 30, "only {} cases", cases.len());
    cases
}

#[test]
fn connecting_again_changes_nothing_and_disconnecting_restores_every_byte() {
    for (client, path, connected) in cases() {
        let home = Home::new();
        let original = fs::read(&path).unwrap();
        let config = home.write(client, &original);

        let plan = plan_connect(client, &home.places, &server()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(fs::read(&config).unwrap(), original, "planning changes nothing");
        let applied = plan.apply(now()).unwrap();
        assert!(applied.changed);
        assert_eq!(fs::read(applied.backup.unwrap()).unwrap(), original);
        let connected_bytes = fs::read(&config).unwrap();
        if std::env::var_os("MEMENTORY_UPDATE").is_some() {
            fs::write(&connected, &connected_bytes).unwrap();
        }
        let expected = fs::read(&connected).unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&connected_bytes), String::from_utf8_lossy(&expected), "{}", path.display());

        let before = home.files();
        let again = plan_connect(client, &home.places, &server()).unwrap();
        assert!(!again.changes() && again.change().is_empty());
        assert!(!again.apply(now()).unwrap().changed);
        assert_eq!(home.files(), before, "no second backup");

        let plan = plan_disconnect(client, &home.places, "mementory").unwrap();
        plan.apply(now()).unwrap();
        let restored = fs::read(&config).unwrap();
        assert_eq!(String::from_utf8_lossy(&restored), String::from_utf8_lossy(&original), "{}", path.display());

        let plan = plan_disconnect(client, &home.places, "mementory").unwrap();
        assert!(!plan.changes() && !plan.apply(now()).unwrap().changed);
    }
}

#[test]
fn a_missing_file_is_created_and_removed_again() {
    for client in Client::ALL {
        let home = Home::new();
        assert!(!plan_disconnect(client, &home.places, "mementory").unwrap().changes());
        let plan = plan_connect(client, &home.places, &server()).unwrap();
        assert!(plan.change().starts_with("--- /dev/null\n+++ "), "{}", plan.change());
        let applied = plan.apply(now()).unwrap();
        assert!(applied.changed && applied.backup.is_none());
        assert!(home.path(client).is_file());
        let applied = plan_disconnect(client, &home.places, "mementory").unwrap().apply(now()).unwrap();
        assert!(!home.path(client).exists());
        assert!(applied.changed && applied.backup.is_some());
    }
}

#[test]
fn the_change_is_a_unified_diff() {
    let home = Home::new();
    let path = home.write(Client::Zed, "{\n  // mine\n  \"vim_mode\": true\n}\n");
    let plan = plan_connect(Client::Zed, &home.places, &server()).unwrap();
    let expected = format!("--- {0}\n+++ {0}\n{1}", path.display(), fs::read_to_string(data("zed.diff")).unwrap());
    assert_eq!(plan.change(), expected);
}

#[test]
fn only_the_changed_part_of_a_very_long_line_is_shown() {
    let home = Home::new();
    let long = "ü".repeat(10_000);
    let path = home.write(Client::ClaudeCode, format!("{{\"a\":\"{long}\",\"mcpServers\":{{}},\"b\":\"{long}\"}}"));
    let change = plan_connect(Client::ClaudeCode, &home.places, &server()).unwrap().change();
    let lines: Vec<_> = change.lines().collect();
    assert_eq!(lines[0], format!("--- {}", path.display()));
    assert!(lines[2].starts_with("-…ü") && lines[2].contains("\"mcpServers\":{},\"b\":\"ü"), "{}", lines[2]);
    assert!(lines[3].starts_with("+…ü") && lines[3].contains("\"mcpServers\":{\"mementory\": {"), "{}", lines[3]);
    assert!(change.len() < 2000);
}
