#![allow(clippy::unwrap_used)]
use super::*;
use crate::CreateOptions;
use mementory_clients::System;
use std::path::PathBuf;

const CONFIG: &str = "# mine\nmodel = \"o5\"\n";

struct Computer {
    folder: tempfile::TempDir,
    session: Session,
    connections: Connections,
}

impl Computer {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir_all(home.join(".codex")).unwrap();
        std::fs::write(home.join(".codex/config.toml"), CONFIG).unwrap();
        let options = CreateOptions { kdf_floor: true };
        let (session, _) = Session::create(&folder.path().join("v"), "correct horse battery staple", options).unwrap();
        let connections = Connections {
            places: Places::in_home(System::Linux, home),
            command: "/usr/bin/mementory".into(),
            name: "mementory".into(),
        };
        Self { folder, session, connections }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("home/.codex/config.toml")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.config()).unwrap()
    }

    fn connect(&self) -> ApiResult<ConnectionChange> {
        let request = GrantRequest { rights: vec!["read".into()], ..GrantRequest::default() };
        self.connections.connect(&self.session, "codex", &request)
    }

    fn states(&self) -> Vec<String> {
        self.session.agents().grants().unwrap().grants.into_iter().map(|grant| grant.state).collect()
    }

    fn secret(&self) -> String {
        let text = self.text();
        let at = text.find("mementory_r_").unwrap();
        text[at..].split(['"', '\'']).next().unwrap().rsplit('_').next().unwrap().to_owned()
    }
}

#[test]
fn a_preview_changes_nothing() {
    let computer = Computer::new();
    let preview = computer.connections.preview_connect(Some(&computer.session), "codex").unwrap();
    assert!(preview.dry_run && preview.change.contains("+[mcp_servers.mementory]"));
    assert_eq!((computer.text().as_str(), computer.states()), (CONFIG, vec![]));
}

#[test]
fn no_displayed_change_contains_the_token() {
    let computer = Computer::new();
    let connected = computer.connect().unwrap();
    let secret = computer.secret();
    assert_eq!(secret.len(), SECRET_DIGITS);
    let grant = connected.grant.unwrap();
    assert_eq!(grant.name, "Codex");
    let disconnect = computer.connections.preview_disconnect("codex").unwrap();
    for change in [connected.change, disconnect.change] {
        assert!(!change.contains(&secret), "{change}");
        assert!(change.contains(&format!("mementory_r_{}_…", grant.id)), "{change}");
    }
    let found = computer.connections.list().clients.into_iter().find(|found| found.client == "codex").unwrap();
    assert_eq!((found.grant, found.current), (Some(grant.id), true));
}

#[test]
fn connecting_again_keeps_the_grant_while_it_is_in_force() {
    let computer = Computer::new();
    let first = computer.connect().unwrap().grant.unwrap();
    let again = computer.connect().unwrap();
    assert_eq!((again.changed, again.change.as_str(), again.grant.unwrap().id), (false, "", first.id.clone()));

    let moved = Connections { command: "/opt/mementory".into(), ..computer.connections };
    let computer = Computer { connections: moved, ..computer };
    let secret = computer.secret();
    let moved = computer.connect().unwrap();
    assert_eq!((moved.changed, moved.grant.unwrap().id), (true, first.id.clone()));
    assert_eq!(computer.secret(), secret, "only the path is outdated");

    computer.session.agents().revoke_grant(&first.id).unwrap();
    let renewed = computer.connect().unwrap();
    assert_ne!(renewed.grant.unwrap().id, first.id);
    assert_ne!(computer.secret(), secret);
    assert_eq!(computer.states(), ["revoked", "active"]);
}

#[test]
fn disconnecting_ends_the_grant_and_restores_the_configuration() {
    let computer = Computer::new();
    computer.connect().unwrap();
    let done = computer.connections.disconnect(Some(&computer.session), "codex").unwrap();
    assert!(done.changed && done.grant.as_ref().unwrap().state == "revoked");
    assert_eq!((computer.text().as_str(), computer.states()), (CONFIG, vec!["revoked".to_owned()]));
    let again = computer.connections.disconnect(Some(&computer.session), "codex").unwrap();
    assert!(!again.changed && again.grant.is_none());
}

#[test]
fn disconnecting_ends_the_grant_even_if_the_configuration_cannot_be_changed() {
    let computer = Computer::new();
    computer.connect().unwrap();
    let text = computer.text();
    let set_readonly = |on: bool| {
        let mut permissions = std::fs::metadata(computer.config()).unwrap().permissions();
        permissions.set_readonly(on);
        std::fs::set_permissions(computer.config(), permissions).unwrap();
    };
    set_readonly(true);
    for _ in 0..2 {
        let done = computer.connections.disconnect(Some(&computer.session), "codex").unwrap();
        let warnings = crate::warnings_of(&done);
        let path = computer.config().display().to_string();
        assert_eq!((warnings[0].code.as_str(), &warnings[0].place), ("configuration_not_changed", &path));
        let message = &warnings[0].message;
        assert!(message.contains(&format!("{path}: the file is write-protected.")), "{message}");
        assert!(message.contains("Disconnect again") && !message.contains("Nothing was changed"), "{message}");
        assert!(!done.changed && done.change.is_empty());
        assert_eq!(done.grant.as_ref().unwrap().state, "revoked");
        assert_eq!((computer.text(), computer.states()), (text.clone(), vec!["revoked".to_owned()]));
    }
    assert!(computer.connections.disconnect(None, "codex").is_err(), "without the vault nothing was done");
    set_readonly(false);
    let done = computer.connections.disconnect(Some(&computer.session), "codex").unwrap();
    assert!(done.changed && done.warnings.is_empty());
    assert_eq!(computer.text(), CONFIG);
}

#[test]
fn without_the_vault_only_the_configuration_changes() {
    let computer = Computer::new();
    computer.connect().unwrap();
    let done = computer.connections.disconnect(None, "codex").unwrap();
    assert!(done.changed && done.grant.is_none());
    assert_eq!((computer.text().as_str(), computer.states()), (CONFIG, vec!["active".to_owned()]));
}

#[test]
fn no_grant_is_made_if_the_configuration_cannot_be_changed() {
    let computer = Computer::new();
    for text in ["model = ", "[mcp_servers.mementory]\ncommand = \"other\"\n"] {
        std::fs::write(computer.config(), text).unwrap();
        computer.connect().unwrap_err();
        assert_eq!((computer.text().as_str(), computer.states()), (text, vec![]));
    }
    assert_eq!(computer.connections.preview_connect(None, "nobody").unwrap_err().code, "usage");
}

#[test]
fn only_the_secrets_of_tokens_are_masked() {
    let secret = "ab".repeat(32);
    let token = format!("mementory_rse_0123456789abcdef_{secret}");
    for (text, shown) in [
        (
            format!("x mementory_ y {token}\" {token}"),
            "x mementory_ y mementory_rse_0123456789abcdef_…\" mementory_rse_0123456789abcdef_…".to_owned(),
        ),
        (format!("mementory_a_b_c {secret}"), format!("mementory_a_b_c {secret}")),
        ("mementory_r_ä_ö".into(), "mementory_r_ä_ö".into()),
        ("[mcp_servers.mementory]".into(), "[mcp_servers.mementory]".into()),
    ] {
        assert_eq!(without_secrets(&text), shown);
    }
}
