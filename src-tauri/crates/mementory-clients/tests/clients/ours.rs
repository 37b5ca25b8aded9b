//! Tests with existing entries of the same name, and with changes between connecting and disconnecting.

use crate::testing::{Home, now, server};
use mementory_clients::{Client, Server, plan_connect, plan_disconnect};
use std::fs;

fn connect(home: &Home, client: Client, server: &Server) {
    plan_connect(client, &home.places, server).unwrap().apply(now()).unwrap();
}

fn disconnect(home: &Home, client: Client) -> String {
    plan_disconnect(client, &home.places, "mementory").unwrap().apply(now()).unwrap();
    fs::read_to_string(home.path(client)).unwrap()
}

#[test]
fn a_foreign_entry_is_neither_overwritten_nor_removed() {
    let json = r#"{"SECTION": {"mementory": {"command": "x", "env": {"MEMENTORY_TOKEN": "t"}}}}"#;
    let toml = "[mcp_servers.mementory]\ncommand = \"x\"\n";
    let sections = [
        (Client::ClaudeDesktop, "mcpServers"),
        (Client::ClaudeCode, "mcpServers"),
        (Client::Cursor, "mcpServers"),
        (Client::VsCode, "servers"),
        (Client::Zed, "context_servers"),
        (Client::GeminiCli, "mcpServers"),
        (Client::Codex, ""),
    ];
    for (client, section) in sections {
        let home = Home::new();
        home.write(client, if section.is_empty() { toml.into() } else { json.replace("SECTION", section) });
        let before = home.files();
        assert_eq!(plan_connect(client, &home.places, &server()).err().unwrap().code(), "not_ours");
        assert_eq!(plan_disconnect(client, &home.places, "mementory").err().unwrap().code(), "not_ours");
        assert_eq!(home.files(), before);
        // A server with another name can be added and removed.
        let other = Server { name: "mementory-2".into(), ..server() };
        connect(&home, client, &other);
        plan_disconnect(client, &home.places, "mementory-2").unwrap().apply(now()).unwrap();
        assert_eq!(fs::read(home.path(client)).unwrap(), before[0].1);
    }
}

#[test]
fn an_outdated_entry_is_updated_in_place() {
    let old = Server { command: "/old/mementory".into(), ..server() };
    for (client, text) in [
        (Client::Zed, "{\n  \"vim_mode\": true\n}\n"),
        (Client::Codex, "model = \"m\"\n"),
        (Client::Cursor, "{\"mcpServers\": {\"a\": {}}}"),
        (Client::Codex, "mcp_servers = { a = { command = \"x\" } }\n"),
    ] {
        let home = Home::new();
        home.write(client, text);
        connect(&home, client, &server());
        let fresh = fs::read_to_string(home.path(client)).unwrap();
        disconnect(&home, client);
        connect(&home, client, &old);
        connect(&home, client, &server());
        assert_eq!(fs::read_to_string(home.path(client)).unwrap(), fresh);
        assert_eq!(disconnect(&home, client), text);
    }
}

#[test]
fn additions_by_the_person_survive_an_update() {
    let home = Home::new();
    home.write(Client::GeminiCli, "{}");
    connect(&home, Client::GeminiCli, &Server { command: "/old".into(), ..server() });
    let text = fs::read_to_string(home.path(Client::GeminiCli)).unwrap();
    let edited = text
        .replace("\"args\"", "\"trust\": true, // mine\n      \"args\"")
        .replace("\"MEMENTORY_TOKEN\"", "\"RUST_LOG\": \"debug\", \"MEMENTORY_TOKEN\"");
    assert_ne!(text, edited);
    home.write(Client::GeminiCli, &edited);
    connect(&home, Client::GeminiCli, &server());
    let text = fs::read_to_string(home.path(Client::GeminiCli)).unwrap();
    assert!(text.contains("\"trust\": true, // mine") && text.contains("\"RUST_LOG\": \"debug\""), "{text}");
    assert!(text.contains("/opt/Mementory") && !text.contains("/old"), "{text}");
    // Disconnecting removes the entry with everything that the person added to it.
    let text = disconnect(&home, Client::GeminiCli);
    assert!(!text.contains("mementory"), "{text}");
}

#[test]
fn changes_made_between_connecting_and_disconnecting_stay() {
    let home = Home::new();
    home.write(Client::VsCode, "{\n\t\"inputs\": []\n}\n");
    connect(&home, Client::VsCode, &server());
    let text = fs::read_to_string(home.path(Client::VsCode)).unwrap();
    // The client itself adds a server after ours.
    let own = "\t\t\"own\": {\n\t\t\t\"command\": \"x\"\n\t\t}";
    let end = text.rfind("\n\t}").unwrap();
    home.write(Client::VsCode, format!("{},\n{own}{}", &text[..end], &text[end..]));
    assert_eq!(
        disconnect(&home, Client::VsCode),
        format!("{{\n\t\"inputs\": [],\n\t\"servers\": {{\n{own}\n\t}}\n}}\n")
    );

    let home = Home::new();
    home.write(Client::Codex, "model = \"m\"");
    connect(&home, Client::Codex, &server());
    let text = fs::read_to_string(home.path(Client::Codex)).unwrap();
    let added_later =
        "\n# asked for\n[mcp_servers.mementory.tools.search]\napproval_mode = \"prompt\"\n\n[tui]\nanimations = true\n";
    home.write(Client::Codex, format!("{text}{added_later}"));
    assert_eq!(disconnect(&home, Client::Codex), "model = \"m\"\n\n# asked for\n\n[tui]\nanimations = true\n");
}

#[test]
fn an_entry_is_found_after_the_client_has_rewritten_the_file() {
    let home = Home::new();
    let original = "{\n  \"a\": 1\n}";
    home.write(Client::ClaudeCode, original);
    connect(&home, Client::ClaudeCode, &server());
    let text = fs::read_to_string(home.path(Client::ClaudeCode)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    home.write(Client::ClaudeCode, serde_json::to_string_pretty(&value).unwrap());
    assert!(!plan_connect(Client::ClaudeCode, &home.places, &server()).unwrap().changes());
    assert_eq!(disconnect(&home, Client::ClaudeCode), original);

    // Codex writes the variables as a separate table.
    let home = Home::new();
    let text =
        "[mcp_servers.mementory]\ncommand = \"/old\"\n\n[mcp_servers.mementory.env]\nMEMENTORY_ADDED = \"entry\"\n";
    home.write(Client::Codex, format!("a = 1\n{text}"));
    connect(&home, Client::Codex, &server());
    assert_eq!(disconnect(&home, Client::Codex), "a = 1\n\n");
}

#[test]
fn an_entry_with_dotted_keys_is_left_to_the_person() {
    let home = Home::new();
    home.write(
        Client::Codex,
        "mcp_servers.mementory.command = \"x\"\nmcp_servers.mementory.env.MEMENTORY_ADDED = \"entry\"\n",
    );
    assert_eq!(plan_disconnect(Client::Codex, &home.places, "mementory").err().unwrap().code(), "config_layout");
}

#[test]
fn a_server_that_the_client_would_start_differently_is_refused() {
    let home = Home::new();
    let with_env = |name: &str, value: &str| Server { env: [(name.into(), value.into())].into(), ..server() };
    let refused = [
        (Client::Zed, Server { name: "a b".into(), ..server() }),
        (Client::Zed, Server { name: String::new(), ..server() }),
        (Client::Zed, Server { name: "a".repeat(65), ..server() }),
        (Client::Zed, Server { command: String::new(), ..server() }),
        (Client::Codex, Server { command: "a\nb".into(), ..server() }),
        (Client::Codex, Server { args: vec!["\u{0}".into()], ..server() }),
        (Client::GeminiCli, with_env("TOKEN", "a$HOME")),
        (Client::VsCode, with_env("TOKEN", "${input:x}")),
        (Client::Zed, with_env("A=B", "x")),
        (Client::Zed, with_env("MEMENTORY_ADDED", "x")),
    ];
    for (client, server) in refused {
        let error = plan_connect(client, &home.places, &server).err().unwrap();
        assert_eq!(error.code(), "invalid_server", "{server:?}");
    }
    assert!(!format!("{:?}", server()).contains("t-0123"), "debug output has no secrets");
}
