//! Tests of the reports of `doctor`.

use crate::testing::{Home, now, server};
use mementory_clients::{Client, ClientReport, Places, Server, System, doctor, plan_connect};
use std::{fs, path::Path};

fn report(places: &Places, client: Client, expected: &Server) -> ClientReport {
    let mut reports = doctor(places, |_| expected.clone());
    assert_eq!(reports.len(), Client::ALL.len());
    reports.retain(|report| report.client == client.id());
    reports.pop().unwrap()
}

fn codes(report: &ClientReport) -> Vec<&str> {
    report.problems.iter().map(|problem| problem.code).collect()
}

fn create_program(path: &Path) -> Server {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "#!/bin/sh\n").unwrap();
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    Server { command: path.display().to_string(), ..server() }
}

#[test]
fn nothing_is_found_in_an_empty_home() {
    let home = Home::new();
    for report in doctor(&home.places, |_| server()) {
        assert!(report.installed.is_none() && !report.configured && report.problems.is_empty(), "{report:?}");
    }
}

#[test]
fn a_healthy_entry_has_no_problems() {
    let home = Home::new();
    let server = create_program(&home.outside().join("mementory-mcp"));
    for client in Client::ALL {
        plan_connect(client, &home.places, &server).unwrap().apply(now()).unwrap();
        let report = report(&home.places, client, &server);
        assert!(report.configured && report.ours && report.current, "{report:?}");
        assert!(report.problems.is_empty(), "{report:?}");
        assert_eq!(report.installed.unwrap().by, "own_files");
    }
}

#[test]
fn an_entry_with_another_token_is_current_and_one_with_another_command_is_not() {
    let home = Home::new();
    let first = create_program(&home.outside().join("mementory-mcp"));
    plan_connect(Client::Cursor, &home.places, &first).unwrap().apply(now()).unwrap();
    let with_other_token = Server { env: [("MEMENTORY_TOKEN".into(), "unknown".into())].into(), ..first.clone() };
    assert!(report(&home.places, Client::Cursor, &with_other_token).current);
    let with_other_command = create_program(&home.outside().join("moved/mementory-mcp"));
    assert_eq!(codes(&report(&home.places, Client::Cursor, &with_other_command)), ["outdated"]);
    let with_more_variables = Server { env: [("ANOTHER".into(), "x".into())].into(), ..first.clone() };
    assert_eq!(codes(&report(&home.places, Client::Cursor, &with_more_variables)), ["outdated"]);
    fs::remove_file(&first.command).unwrap();
    assert_eq!(codes(&report(&home.places, Client::Cursor, &first)), ["command_missing"]);
}

#[test]
fn a_broken_file_and_a_foreign_entry_are_problems() {
    let home = Home::new();
    home.write(Client::Codex, "a = [");
    assert_eq!(codes(&report(&home.places, Client::Codex, &server())), ["config_broken"]);
    home.write(Client::Cursor, r#"{"mcpServers": {"mementory": {"url": "https://example.com"}}}"#);
    let report = report(&home.places, Client::Cursor, &server());
    assert!(report.configured && !report.ours && !report.current);
    assert_eq!(codes(&report), ["not_ours"]);
}

#[cfg(unix)]
#[test]
fn files_that_cannot_be_executed_or_that_others_can_read_are_problems() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let server = create_program(&home.outside().join("mementory-mcp"));
    plan_connect(Client::Zed, &home.places, &server).unwrap().apply(now()).unwrap();
    fs::set_permissions(&server.command, fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(home.path(Client::Zed), fs::Permissions::from_mode(0o644)).unwrap();
    let report = report(&home.places, Client::Zed, &server);
    assert_eq!(codes(&report), ["command_not_executable", "readable_by_others"]);
}

#[test]
fn clients_are_found_by_program_and_application() {
    let home = Home::new();
    let folder = home.outside().join("bin");
    create_program(&folder.join("codex"));
    create_program(&folder.join("gemini.cmd"));
    let mut places = Places { program_folders: vec![folder.clone()], ..home.places.clone() };
    let installed = |places: &Places, client| report(places, client, &server()).installed;
    assert_eq!(installed(&places, Client::Codex).unwrap().path, folder.join("codex"));
    assert!(installed(&places, Client::GeminiCli).is_none());
    places.system = System::Windows;
    assert_eq!(installed(&places, Client::GeminiCli).unwrap().by, "program");

    let mut places = Places::in_home(System::MacOs, home.places.home.clone());
    places.application_folders = vec![home.outside().join("Applications")];
    fs::create_dir_all(home.outside().join("Applications/Zed.app")).unwrap();
    assert_eq!(installed(&places, Client::Zed).unwrap().by, "application");
}

#[test]
fn paths_depend_on_the_system_and_environment_variables() {
    let home = Path::new("/h");
    let path = |system, client| {
        Places::in_home(system, home.into()).config_path(client).display().to_string().replace('\\', "/")
    };
    let expected = [
        (
            Client::ClaudeDesktop,
            ".config/Claude",
            "Library/Application Support/Claude",
            "AppData/Roaming/Claude",
            "claude_desktop_config.json",
        ),
        (Client::ClaudeCode, "", "", "", ".claude.json"),
        (Client::Codex, ".codex", ".codex", ".codex", "config.toml"),
        (Client::Cursor, ".cursor", ".cursor", ".cursor", "mcp.json"),
        (
            Client::VsCode,
            ".config/Code/User",
            "Library/Application Support/Code/User",
            "AppData/Roaming/Code/User",
            "mcp.json",
        ),
        (Client::Zed, ".config/zed", ".config/zed", "AppData/Roaming/Zed", "settings.json"),
        (Client::GeminiCli, ".gemini", ".gemini", ".gemini", "settings.json"),
    ];
    for (client, linux, mac, windows, file) in expected {
        for (system, folder) in [(System::Linux, linux), (System::MacOs, mac), (System::Windows, windows)] {
            let expected = format!("/h/{folder}/{file}").replace("//", "/");
            assert_eq!(path(system, client), expected);
        }
    }
    let moved = Places {
        codex_home: Some("/c".into()),
        claude_config_dir: Some("/d".into()),
        gemini_home: Some("/g".into()),
        ..Places::in_home(System::Linux, home.into())
    };
    assert_eq!(moved.config_path(Client::Codex), Path::new("/c/config.toml"));
    assert_eq!(moved.config_path(Client::ClaudeCode), Path::new("/d/.claude.json"));
    assert_eq!(moved.config_path(Client::GeminiCli), Path::new("/g/.gemini/settings.json"));
}

#[test]
fn the_windows_package_of_claude_desktop_has_its_own_folder() {
    let home = Home::new();
    let places = Places::in_home(System::Windows, home.places.home.clone());
    let folder = places.local_data.join("Packages/Claude_abc/LocalCache/Roaming/Claude");
    fs::create_dir_all(&folder).unwrap();
    assert_eq!(places.config_path(Client::ClaudeDesktop), folder.join("claude_desktop_config.json"));
}
