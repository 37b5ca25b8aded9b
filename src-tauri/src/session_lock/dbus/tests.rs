//! Maps signals to events, and tests the listener on a private bus with a fake logind.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::desktop::private_bus::PrivateBus;
use std::io::{PipeReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Maximum wait for an event on a private bus.
const DEADLINE: Duration = Duration::from_secs(30);
const OWN_SESSION: &str = "/org/freedesktop/login1/session/_31";
const OTHER_SESSION: &str = "/org/freedesktop/login1/session/_32";
const SAVER_PATH: &str = "/org/gnome/ScreenSaver";

#[test]
fn signals_map_to_events() {
    for (interface, member, flag, event) in [
        (MANAGER_INTERFACE, "PrepareForSleep", Some(true), Some(SystemEvent::AboutToSleep)),
        (MANAGER_INTERFACE, "PrepareForSleep", Some(false), Some(SystemEvent::Woke)),
        (MANAGER_INTERFACE, "PrepareForSleep", None, None),
        (MANAGER_INTERFACE, "PrepareForShutdown", Some(true), None),
        (SESSION_INTERFACE, "Lock", None, Some(SystemEvent::ScreenLocked(true))),
        (SESSION_INTERFACE, "Unlock", None, Some(SystemEvent::ScreenLocked(false))),
        (SESSION_INTERFACE, "PauseDevice", None, None),
        ("org.freedesktop.ScreenSaver", "ActiveChanged", Some(true), Some(SystemEvent::ScreenLocked(true))),
        ("org.gnome.ScreenSaver", "ActiveChanged", Some(true), Some(SystemEvent::ScreenLocked(true))),
        ("org.gnome.ScreenSaver", "ActiveChanged", Some(false), Some(SystemEvent::ScreenLocked(false))),
        ("org.cinnamon.ScreenSaver", "ActiveChanged", Some(true), Some(SystemEvent::ScreenLocked(true))),
        ("org.mate.ScreenSaver", "ActiveChanged", Some(true), Some(SystemEvent::ScreenLocked(true))),
        ("org.xfce.ScreenSaver", "ActiveChanged", Some(true), Some(SystemEvent::ScreenLocked(true))),
        ("org.gnome.ScreenSaver", "ActiveChanged", None, None),
        ("org.gnome.ScreenSaver", "WakeUpScreen", None, None),
        ("org.example.ScreenSaver", "ActiveChanged", Some(true), None),
    ] {
        assert_eq!(event_for_signal(interface, member, flag), event, "{interface} {member} {flag:?}");
    }
}

/// Events in the order in which they happened.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    ScreenLocked(bool),
    BeforeSleep,
    InhibitorTaken,
    InhibitorReleased,
}

struct FakeListener {
    enabled: Arc<AtomicBool>,
    events: Sender<Event>,
}

impl LockListener for FakeListener {
    fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::SeqCst)
    }
    fn on_screen_lock(&self, locked: bool) {
        self.events.send(Event::ScreenLocked(locked)).unwrap();
    }
    fn before_sleep(&self) {
        self.events.send(Event::BeforeSleep).unwrap();
    }
}

/// The code under test, connected to a private bus.
struct ListenerUnderTest {
    enabled: Arc<AtomicBool>,
    events: Receiver<Event>,
    event_sender: Sender<Event>,
    messages: Sender<BusMessage>,
    forwarder: Option<JoinHandle<bool>>,
}

impl ListenerUnderTest {
    /// Starts listening. Signals sent after this returns are received.
    fn connected_to(bus: Bus, daemon: &PrivateBus) -> Self {
        let (event_sender, events) = channel();
        let (messages, receiver) = channel();
        let enabled = Arc::new(AtomicBool::new(true));
        let listener = FakeListener { enabled: enabled.clone(), events: event_sender.clone() };
        let (forwarding, connection) = (messages.clone(), daemon.connect());
        let forwarder = Some(std::thread::spawn(move || forward_until_closed(bus, || Ok(connection), &forwarding)));
        let connected = receiver.recv_timeout(DEADLINE).unwrap();
        assert!(matches!(&connected, BusMessage::Connected(..)));
        messages.send(connected).unwrap();
        std::thread::spawn(move || handle_messages(&receiver, &listener));
        Self { enabled, events, event_sender, messages, forwarder }
    }

    fn next(&self) -> Event {
        self.events.recv_timeout(DEADLINE).unwrap()
    }
}

#[test]
#[cfg_attr(not(has_dbus_daemon), ignore = "dbus-daemon was not installed when this was built")]
fn a_locked_screen_is_noticed_on_every_desktop() {
    let daemon = PrivateBus::start();
    let mut listening = ListenerUnderTest::connected_to(Bus::Session, &daemon);
    let desktop = daemon.connect();
    for saver in SCREEN_SAVER_INTERFACES {
        for locked in [true, false] {
            desktop
                .emit_signal(None::<&str>, SAVER_PATH, "org.example.ScreenSaver", "ActiveChanged", &!locked)
                .unwrap();
            desktop.emit_signal(None::<&str>, SAVER_PATH, saver, "ActiveChanged", &locked).unwrap();
            assert_eq!(listening.next(), Event::ScreenLocked(locked), "{saver}");
        }
    }
    drop(daemon);
    let has_receiver = listening.forwarder.take().unwrap().join().unwrap();
    assert!(has_receiver, "a bus that goes away ends only the listening to it");
    let path = OwnedObjectPath::try_from(SAVER_PATH).unwrap();
    listening.messages.send(BusMessage::Event(SystemEvent::ScreenLocked(true), path)).unwrap();
    assert_eq!(listening.next(), Event::ScreenLocked(true), "events from elsewhere are still acted on");
}

/// The part of logind that the program calls. It reports when an inhibitor that it returned is closed.
struct FakeLogind(Sender<Event>);

#[zbus::interface(name = "org.freedesktop.login1.Manager")]
impl FakeLogind {
    fn inhibit(&self, what: &str, who: &str, _why: &str, mode: &str) -> OwnedFd {
        assert_eq!((what, who, mode), ("sleep", "Mementory", "delay"));
        let (reader, writer) = std::io::pipe().unwrap();
        self.0.send(Event::InhibitorTaken).unwrap();
        let events = self.0.clone();
        std::thread::spawn(move || report_close(reader, &events));
        std::os::fd::OwnedFd::from(writer).into()
    }
}

fn report_close(mut reader: PipeReader, events: &Sender<Event>) {
    reader.read_to_end(&mut Vec::new()).unwrap();
    // The test may already have ended.
    let _ = events.send(Event::InhibitorReleased);
}

struct FakeSession(u32);

#[zbus::interface(name = "org.freedesktop.login1.Session")]
impl FakeSession {
    #[zbus(property)]
    fn user(&self) -> (u32, OwnedObjectPath) {
        (self.0, OwnedObjectPath::try_from("/org/freedesktop/login1/user/_self").unwrap())
    }
}

#[test]
#[cfg_attr(not(has_dbus_daemon), ignore = "dbus-daemon was not installed when this was built")]
fn sleep_is_inhibited_until_the_listener_has_locked() {
    let daemon = PrivateBus::start();
    let logind = daemon.connect();
    let own_user = current_user(&logind).unwrap();
    let listening = ListenerUnderTest::connected_to(Bus::System, &daemon);
    let emit = |path: &str, interface: &str, member: &str, flag: Option<bool>| {
        match flag {
            Some(flag) => logind.emit_signal(None::<&str>, path, interface, member, &flag),
            None => logind.emit_signal(None::<&str>, path, interface, member, &()),
        }
        .unwrap();
    };
    // logind starts after the listener. The listener asks logind for an inhibitor when it receives the first signal.
    let server = logind.object_server();
    server.at(MANAGER_PATH, FakeLogind(listening.event_sender.clone())).unwrap();
    server.at(OWN_SESSION, FakeSession(own_user)).unwrap();
    server.at(OTHER_SESSION, FakeSession(own_user + 1)).unwrap();
    logind.request_name(LOGIND_NAME).unwrap();
    emit(MANAGER_PATH, MANAGER_INTERFACE, "PrepareForSleep", Some(false));
    assert_eq!(listening.next(), Event::InhibitorTaken);

    for _ in 0..2 {
        emit(MANAGER_PATH, MANAGER_INTERFACE, "PrepareForSleep", Some(true));
        assert_eq!((listening.next(), listening.next()), (Event::BeforeSleep, Event::InhibitorReleased));
        emit(OWN_SESSION, SESSION_INTERFACE, "Lock", None);
        assert_eq!(
            listening.next(),
            Event::ScreenLocked(true),
            "no inhibitor is held while the computer goes to sleep"
        );
        emit(MANAGER_PATH, MANAGER_INTERFACE, "PrepareForSleep", Some(false));
        assert_eq!(listening.next(), Event::InhibitorTaken, "taken again after waking up");
    }

    emit(OTHER_SESSION, SESSION_INTERFACE, "Lock", None);
    emit(OWN_SESSION, SESSION_INTERFACE, "Unlock", None);
    assert_eq!(listening.next(), Event::ScreenLocked(false), "another user's session is ignored");

    listening.enabled.store(false, Ordering::SeqCst);
    listening.messages.send(BusMessage::SettingChanged).unwrap();
    assert_eq!(listening.next(), Event::InhibitorReleased, "sleep is not delayed while the setting is off");
    listening.enabled.store(true, Ordering::SeqCst);
    listening.messages.send(BusMessage::SettingChanged).unwrap();
    assert_eq!(listening.next(), Event::InhibitorTaken);
    drop(daemon);
    assert_eq!(listening.next(), Event::InhibitorReleased, "the inhibitor is dropped with its bus");
}

#[test]
fn a_missing_bus_is_reported_once_without_waiting() {
    let (sender, messages) = channel();
    let connect = || Builder::address("unix:path=/nowhere/bus")?.build();
    assert!(forward_until_closed(Bus::Session, connect, &sender));
    assert!(matches!(messages.recv_timeout(DEADLINE).unwrap(), BusMessage::Disconnected(Bus::Session)));
    drop(messages);
    assert!(!forward_until_closed(Bus::Session, connect, &sender), "the receiver has ended");
}
