//! Clients that call the window over its socket.
#![allow(clippy::unwrap_used)]
use crate::autolock::manual::ManualClock;
use crate::clipboard::fake::FakeClipboard;
use crate::settings::SettingsFile;
use crate::state::AppState;
use mementory_api::types::*;
use mementory_api::{CreateOptions, Job, Session};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};

const PASSPHRASE: &str = "correct horse battery staple";

struct Window {
    folder: tempfile::TempDir,
    state: AppState,
}

impl Window {
    /// A window with an open vault and a separate socket.
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = SettingsFile::load(&folder.path().join("config"));
        let mut state = AppState::new(settings, Arc::new(ManualClock::default()), Box::new(FakeClipboard::default()));
        state.set_client_socket(folder.path().join("run/clients.sock"));
        let window = Self { folder, state };
        let (session, _) = Session::create(&window.vault(), PASSPHRASE, CreateOptions { kdf_floor: true }).unwrap();
        window.state.set_open_vault(&window.vault(), session).unwrap();
        window
    }

    fn vault(&self) -> PathBuf {
        self.folder.path().join("Memories.mementory")
    }

    fn unlock(&self) {
        self.state.set_open_vault(&self.vault(), Session::open(&self.vault(), PASSPHRASE).unwrap()).unwrap();
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("run/clients.sock")
    }

    fn grant(&self) -> CreatedGrant {
        let rights = vec!["read".into(), "suggest".into()];
        let request = GrantRequest { name: "Client".into(), rights, ..GrantRequest::default() };
        let grant = self.state.with_session(|session| session.agents().add_grant(&request)).unwrap();
        self.state.update_agents();
        grant
    }

    fn remember(&self, text: &str) -> String {
        let request = AddRequest { text: text.into(), ..AddRequest::default() };
        self.state.with_session(|session| session.changes().add(&request)).unwrap().ids.remove(0)
    }

    /// One call over the socket. Returns the result or the error code.
    fn call(&self, token: &str, tool: &str, arguments: Value) -> Result<Value, String> {
        call(&self.socket(), token, tool, arguments)
    }

    fn is_running(&self) -> bool {
        self.state.agents().state(true).running
    }
}

fn call(socket: &std::path::Path, token: &str, tool: &str, arguments: Value) -> Result<Value, String> {
    let mut stream = UnixStream::connect(socket).unwrap();
    writeln!(stream, "{}", json!({"token": token, "tool": tool, "arguments": arguments})).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    match answer.get("result") {
        Some(result) => Ok(result.clone()),
        None => Err(answer["error"]["code"].as_str().unwrap().to_owned()),
    }
}

#[test]
fn without_a_grant_there_is_no_socket() {
    let window = Window::open();
    assert!(!window.is_running() && !window.socket().exists());
    window.grant();
    assert!(window.is_running() && window.socket().exists());
    window.state.shut_down();
    assert!(!window.socket().exists());
}

#[test]
fn clients_are_answered_as_soon_as_a_vault_with_a_grant_is_opened() {
    let window = Window::open();
    window
        .state
        .with_session(|session| {
            session.agents().add_grant(&GrantRequest {
                name: "Client".into(),
                rights: vec!["read".into()],
                ..GrantRequest::default()
            })
        })
        .unwrap();
    window.state.lock();
    assert!(!window.is_running(), "nobody knows of the grant yet");
    window.unlock();
    assert!(window.is_running());
}

#[test]
fn a_client_is_answered_until_the_vault_is_locked_and_again_after_it_is_unlocked() {
    let window = Window::open();
    let id = window.remember("Has a tortoise called Rui.");
    let token = window.grant().token;
    let hits = |answer: Value| answer["results"].as_array().unwrap().len();
    assert_eq!(hits(window.call(&token, "search", json!({"query": "tortoise"})).unwrap()), 1);
    assert_eq!(window.call("mementory_r_x", "about", json!({})).unwrap_err(), "unknown_token");
    window.state.lock();
    assert_eq!(window.call(&token, "search", json!({"query": "tortoise"})).unwrap_err(), "locked");
    window.unlock();
    assert_eq!(window.call(&token, "fetch", json!({"id": id})).unwrap()["id"], id.as_str());
    assert!(window.call(&token, "suggest_memory", json!({"text": "Likes trains."})).is_ok());
    let waiting = window.state.with_session(|session| session.agents().suggestions()).unwrap();
    assert_eq!(waiting.items.len(), 1);
}

#[test]
fn a_call_during_an_erasure_is_refused_and_changes_nothing() {
    let window = Window::open();
    let id = window.remember("Has a tortoise called Rui.");
    window.remember("Likes trains.");
    let token = window.grant().token;
    let (started, starts) = mpsc::channel();
    let (continue_erasure, erasure_continues) = mpsc::channel::<()>();
    let erasure_continues = Mutex::new(erasure_continues);
    let job = Job::with_progress(Arc::new(move |_| {
        let _ = started.send(());
        let _ = erasure_continues.lock().unwrap().recv();
    }));
    std::thread::scope(|scope| {
        let erasing = scope.spawn(|| {
            let request = EraseRequest { ids: vec![id.clone()], reason: None, with_copies: false, copies: None };
            window.state.with_job("erase", &job, |session| session.changes().erase(&request, &job)).unwrap()
        });
        starts.recv().unwrap();
        let answer = window.call(&token, "search", json!({"query": "tortoise"}));
        // Lets the erasure continue. The sender is dropped, so the erasure does not wait at later stages.
        drop(continue_erasure);
        assert_eq!(answer.unwrap_err(), "busy");
        assert!(erasing.join().unwrap().receipt.complete);
    });
    assert_eq!(window.call(&token, "fetch", json!({"id": id})).unwrap_err(), "not_found");
    assert!(window.call(&token, "search", json!({"query": "trains"})).is_ok());
}

#[test]
fn each_call_is_announced_with_the_program_that_made_it() {
    let window = Window::open();
    let calls = Arc::new(AtomicU32::new(0));
    let counter = calls.clone();
    window.state.agents().on_call(move || {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let grant = window.grant();
    window.call(&grant.token, "about", json!({})).unwrap();
    assert_eq!(window.call("mementory_r_x", "about", json!({})).unwrap_err(), "unknown_token");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    let seen = window.state.agents().programs();
    if cfg!(target_os = "linux") {
        let own = std::env::current_exe().unwrap().display().to_string();
        assert_eq!(seen, [ConnectedProgram { grant: grant.grant.id, path: own, script: None }]);
    }
}

#[test]
fn the_first_read_is_recorded_once() {
    let window = Window::open();
    window.remember("Has a tortoise called Rui.");
    let grant = window.grant();
    let stored = || window.state.with_session(|session| session.agents().grants()).unwrap().grants.remove(0);
    window.call(&grant.token, "about", json!({})).unwrap();
    assert_eq!(stored().first_read_at, None, "nothing left yet");
    window.call(&grant.token, "list_memories", json!({})).unwrap();
    let first = stored();
    assert!(first.first_read_at.is_some() && !first.first_read_seen);
    window
        .state
        .with_session(|session| session.agents().first_reads_seen(std::slice::from_ref(&grant.grant.id)))
        .unwrap();
    window.call(&grant.token, "list_memories", json!({})).unwrap();
    let later = stored();
    assert!(later.first_read_at == first.first_read_at && later.first_read_seen);
}

#[test]
fn a_stopped_client_gets_no_more_and_switching_off_closes_the_socket() {
    let window = Window::open();
    let grant = window.grant();
    window.state.with_session(|session| session.agents().revoke_grant(&grant.grant.id)).unwrap();
    window.state.update_agents();
    assert_eq!(window.call(&grant.token, "about", json!({})).unwrap_err(), "grant_revoked");
    window.state.set_answer_clients(false);
    assert!(!window.is_running() && !window.socket().exists());
    window.grant();
    assert!(!window.socket().exists(), "it stays off");
    window.state.set_answer_clients(true);
    assert!(window.socket().exists());
}

#[test]
fn a_second_window_reports_that_another_one_answers_clients() {
    let window = Window::open();
    window.grant();
    let mut other = Window::open();
    other.state.set_client_socket(window.socket());
    other.grant();
    let state = other.state.agents().state(true);
    assert!(!state.running);
    assert_eq!(state.problem.unwrap().code, "already_serving");
    other.state.shut_down();
    assert!(window.socket().exists(), "the socket of another window is left alone");
}

#[test]
fn another_process_learns_that_clients_are_answered() {
    let window = Window::open();
    let refused = || Session::open(&window.vault(), PASSPHRASE).map(drop).unwrap_err();
    assert!(refused().details.is_empty());
    window.grant();
    let error = refused();
    assert_eq!((error.code, error.details["answering"].as_str()), ("vault_in_use", "clients"));
    window.state.set_answer_clients(false);
    assert!(refused().details.is_empty());
}
