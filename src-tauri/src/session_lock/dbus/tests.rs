//! What signals mean, as data; and how they come over a real bus of our own, with a logind that we play.
#![allow(clippy::unwrap_used)]
use super::*;
use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Nothing on a bus of our own takes this long.
const DEADLINE: Duration = Duration::from_secs(30);
const OWN_SESSION: &str = "/org/freedesktop/login1/session/_31";
const OTHER_SESSION: &str = "/org/freedesktop/login1/session/_32";
const SAVER_PATH: &str = "/org/gnome/ScreenSaver";

#[test]
fn signals_mean_what_the_systems_say() {
    for (interface, member, flag, sign) in [
        (MANAGER, "PrepareForSleep", Some(true), Some(Sign::Sleep)),
        (MANAGER, "PrepareForSleep", Some(false), Some(Sign::Wake)),
        (MANAGER, "PrepareForSleep", None, None),
        (MANAGER, "PrepareForShutdown", Some(true), None),
        (SESSION, "Lock", None, Some(Sign::Screen(true))),
        (SESSION, "Unlock", None, Some(Sign::Screen(false))),
        (SESSION, "PauseDevice", None, None),
        ("org.freedesktop.ScreenSaver", "ActiveChanged", Some(true), Some(Sign::Screen(true))),
        ("org.gnome.ScreenSaver", "ActiveChanged", Some(true), Some(Sign::Screen(true))),
        ("org.gnome.ScreenSaver", "ActiveChanged", Some(false), Some(Sign::Screen(false))),
        ("org.cinnamon.ScreenSaver", "ActiveChanged", Some(true), Some(Sign::Screen(true))),
        ("org.mate.ScreenSaver", "ActiveChanged", Some(true), Some(Sign::Screen(true))),
        ("org.xfce.ScreenSaver", "ActiveChanged", Some(true), Some(Sign::Screen(true))),
        ("org.gnome.ScreenSaver", "ActiveChanged", None, None),
        ("org.gnome.ScreenSaver", "WakeUpScreen", None, None),
        ("org.example.ScreenSaver", "ActiveChanged", Some(true), None),
    ] {
        assert_eq!(meaning(interface, member, flag), sign, "{interface} {member} {flag:?}");
    }
}

/// What happened, in its order.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Screen(bool),
    Sleep,
    /// Logind is asked to wait for us.
    Held,
    /// It need not wait any more.
    LetGo,
}

struct FakeOwner {
    wants: Arc<AtomicBool>,
    events: Sender<Event>,
}

impl Owner for FakeOwner {
    fn wants(&self) -> bool {
        self.wants.load(Ordering::SeqCst)
    }
    fn screen(&self, locked: bool) {
        self.events.send(Event::Screen(locked)).unwrap();
    }
    fn sleep(&self) {
        self.events.send(Event::Sleep).unwrap();
    }
}

/// A bus of our own.
struct Daemon {
    child: Child,
    address: String,
}

impl Daemon {
    /// None where there is no `dbus-daemon`.
    fn start() -> Option<Self> {
        let mut command = Command::new("dbus-daemon");
        command
            .args(["--session", "--nofork", "--print-address"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            // Past the test runner, which keeps what passing tests print to itself.
            writeln!(std::io::stderr(), "left out: there is no dbus-daemon to listen to").unwrap();
            return None;
        };
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Some(Self { child, address: address.trim().to_owned() })
    }

    fn connect(&self) -> Connection {
        self.builder().build().unwrap()
    }

    fn builder(&self) -> Builder<'_> {
        Builder::address(self.address.as_str()).unwrap().method_timeout(ANSWER)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The listener on such a bus.
struct Listening {
    wants: Arc<AtomicBool>,
    events: Receiver<Event>,
    happened: Sender<Event>,
    told: Sender<Told>,
    telling: Option<JoinHandle<bool>>,
}

impl Listening {
    /// Listen from now on: what is sent after this is heard.
    fn to(bus: Bus, daemon: &Daemon) -> Self {
        let (happened, events) = channel();
        let (told, heard) = channel();
        let wants = Arc::new(AtomicBool::new(true));
        let owner = FakeOwner { wants: wants.clone(), events: happened.clone() };
        let (telling, connection) = (told.clone(), daemon.connect());
        let telling = Some(std::thread::spawn(move || tell(bus, || Ok(connection), &telling)));
        let open = heard.recv_timeout(DEADLINE).unwrap();
        assert!(matches!(&open, Told::Open(..)));
        told.send(open).unwrap();
        std::thread::spawn(move || heed(&heard, &owner));
        Self { wants, events, happened, told, telling }
    }

    fn next(&self) -> Event {
        self.events.recv_timeout(DEADLINE).unwrap()
    }
}

#[test]
fn a_desktop_that_tells_of_its_locked_screen_is_heard() {
    let Some(daemon) = Daemon::start() else { return };
    let mut listening = Listening::to(Bus::Session, &daemon);
    let desktop = daemon.connect();
    for saver in SCREEN_SAVERS {
        for locked in [true, false] {
            desktop
                .emit_signal(None::<&str>, SAVER_PATH, "org.example.ScreenSaver", "ActiveChanged", &!locked)
                .unwrap();
            desktop.emit_signal(None::<&str>, SAVER_PATH, saver, "ActiveChanged", &locked).unwrap();
            assert_eq!(listening.next(), Event::Screen(locked), "{saver}");
        }
    }
    drop(daemon);
    let on = listening.telling.take().unwrap().join().unwrap();
    assert!(on, "a bus that goes away ends the listening to it and nothing else");
    listening.told.send(Told::Sign(Sign::Screen(true), OwnedObjectPath::try_from(SAVER_PATH).unwrap())).unwrap();
    assert_eq!(listening.next(), Event::Screen(true), "what is told otherwise is still acted on");
}

/// As much of logind as there is to talk to. What it hands out says when it was closed.
struct Manager(Sender<Event>);

#[zbus::interface(name = "org.freedesktop.login1.Manager")]
impl Manager {
    fn inhibit(&self, what: &str, who: &str, _why: &str, mode: &str) -> OwnedFd {
        assert_eq!((what, who, mode), ("sleep", "Mementory", "delay"));
        let (reader, writer) = std::io::pipe().unwrap();
        self.0.send(Event::Held).unwrap();
        let events = self.0.clone();
        std::thread::spawn(move || until_closed(reader, &events));
        std::os::fd::OwnedFd::from(writer).into()
    }
}

fn until_closed(mut reader: PipeReader, events: &Sender<Event>) {
    reader.read_to_end(&mut Vec::new()).unwrap();
    // The test may have what it wanted.
    let _ = events.send(Event::LetGo);
}

struct LoginSession(u32);

#[zbus::interface(name = "org.freedesktop.login1.Session")]
impl LoginSession {
    #[zbus(property)]
    fn user(&self) -> (u32, OwnedObjectPath) {
        (self.0, OwnedObjectPath::try_from("/org/freedesktop/login1/user/_self").unwrap())
    }
}

#[test]
fn before_a_sleep_the_owner_is_told_and_only_then_the_computer_may_sleep() {
    let Some(daemon) = Daemon::start() else { return };
    let logind = daemon.connect();
    let own = own_user(&logind).unwrap();
    let listening = Listening::to(Bus::System, &daemon);
    let tell = |path: &str, interface: &str, member: &str, flag: Option<bool>| {
        match flag {
            Some(flag) => logind.emit_signal(None::<&str>, path, interface, member, &flag),
            None => logind.emit_signal(None::<&str>, path, interface, member, &()),
        }
        .unwrap();
    };
    // It was not there when we began to listen, and is asked as soon as it tells something.
    let server = logind.object_server();
    server.at(MANAGER_PATH, Manager(listening.happened.clone())).unwrap();
    server.at(OWN_SESSION, LoginSession(own)).unwrap();
    server.at(OTHER_SESSION, LoginSession(own + 1)).unwrap();
    logind.request_name(LOGIND).unwrap();
    tell(MANAGER_PATH, MANAGER, "PrepareForSleep", Some(false));
    assert_eq!(listening.next(), Event::Held);

    for _ in 0..2 {
        tell(MANAGER_PATH, MANAGER, "PrepareForSleep", Some(true));
        assert_eq!((listening.next(), listening.next()), (Event::Sleep, Event::LetGo));
        tell(OWN_SESSION, SESSION, "Lock", None);
        assert_eq!(listening.next(), Event::Screen(true), "and nothing is held while it goes to sleep");
        tell(MANAGER_PATH, MANAGER, "PrepareForSleep", Some(false));
        assert_eq!(listening.next(), Event::Held, "taken anew");
    }

    tell(OTHER_SESSION, SESSION, "Lock", None);
    tell(OWN_SESSION, SESSION, "Unlock", None);
    assert_eq!(listening.next(), Event::Screen(false), "somebody else's session is none of ours");

    listening.wants.store(false, Ordering::SeqCst);
    listening.told.send(Told::Switched).unwrap();
    assert_eq!(listening.next(), Event::LetGo, "nothing is held up for who does not want it");
    listening.wants.store(true, Ordering::SeqCst);
    listening.told.send(Told::Switched).unwrap();
    assert_eq!(listening.next(), Event::Held);
    drop(daemon);
    assert_eq!(listening.next(), Event::LetGo, "nothing is kept of a bus that is gone");
}

#[test]
fn a_bus_that_is_not_there_is_told_once_and_not_waited_for() {
    let (told, heard) = channel();
    assert!(tell(Bus::Session, || Builder::address("unix:path=/nowhere/bus")?.build(), &told));
    assert!(matches!(heard.recv_timeout(DEADLINE).unwrap(), Told::Gone(Bus::Session)));
    drop(heard);
    assert!(!tell(Bus::Session, || Builder::address("unix:path=/nowhere/bus")?.build(), &told), "nobody listens");
}
