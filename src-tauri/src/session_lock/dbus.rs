//! What Linux tells over D-Bus: the desktop that its screen was locked, logind the same of its sessions, and that the
//! computer goes to sleep. Where a bus or a service is missing, nothing is heard, and nobody is bothered with that.
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use zbus::blocking::{Connection, MessageIterator, connection::Builder, fdo::DBusProxy};
use zbus::message::{Message, Type};
use zbus::names::BusName;
use zbus::zvariant::{OwnedFd, OwnedObjectPath, OwnedValue, Structure};
use zbus::{MatchRule, Result};

const LOGIND: &str = "org.freedesktop.login1";
const MANAGER: &str = "org.freedesktop.login1.Manager";
const MANAGER_PATH: &str = "/org/freedesktop/login1";
const SESSION: &str = "org.freedesktop.login1.Session";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
/// Each desktop has one of these; all have the same signal.
const SCREEN_SAVERS: [&str; 5] = [
    "org.freedesktop.ScreenSaver",
    "org.gnome.ScreenSaver",
    "org.cinnamon.ScreenSaver",
    "org.mate.ScreenSaver",
    "org.xfce.ScreenSaver",
];
/// So long after a bus was not there or went away, it is tried again.
const AGAIN: Duration = Duration::from_secs(60);
/// No answer is waited for longer.
const ANSWER: Duration = Duration::from_secs(5);

/// Whom it concerns.
pub trait Owner: Send + 'static {
    /// Is the vault to be locked at all?
    fn wants(&self) -> bool;
    /// The screen was locked, or unlocked again.
    fn screen(&self, locked: bool);
    /// The computer sleeps as soon as this returns.
    fn sleep(&self);
}

/// What a signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// The screen was locked, or unlocked again.
    Screen(bool),
    /// The computer is about to sleep.
    Sleep,
    /// It is awake again.
    Wake,
}

/// What the listening threads tell the one that acts.
pub enum Told {
    /// This bus is there and tells from now on.
    Open(Bus, Connection),
    /// It is there no more, or was not there at all.
    Gone(Bus),
    /// With the object that it is about.
    Sign(Sign, OwnedObjectPath),
    /// The person switched it on or off.
    Switched,
}

/// The two buses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bus {
    /// With logind.
    System,
    /// With the desktop.
    Session,
}

impl Bus {
    fn connect(self) -> Result<Connection> {
        let builder = match self {
            Self::System => Builder::system(),
            Self::Session => Builder::session(),
        };
        builder?.method_timeout(ANSWER).build()
    }

    /// The signals to ask for. On the system bus, which everybody is on, from logind only.
    fn rules(self) -> Result<Vec<MatchRule<'static>>> {
        let signal =
            |interface, member| MatchRule::builder().msg_type(Type::Signal).interface(interface)?.member(member);
        match self {
            Self::System => [(MANAGER, "PrepareForSleep"), (SESSION, "Lock"), (SESSION, "Unlock")]
                .into_iter()
                .map(|(interface, member)| Ok(signal(interface, member)?.sender(LOGIND)?.build()))
                .collect(),
            Self::Session => {
                SCREEN_SAVERS.into_iter().map(|saver| Ok(signal(saver, "ActiveChanged")?.build())).collect()
            }
        }
    }
}

/// Listen until the process ends. What is answered takes [`Told::Switched`].
pub fn listen(owner: impl Owner) -> std::io::Result<Sender<Told>> {
    let (told, heard) = channel();
    let thread = |name: &str| std::thread::Builder::new().name(name.into());
    for (name, bus) in [("system bus", Bus::System), ("session bus", Bus::Session)] {
        let told = told.clone();
        thread(name).spawn(move || {
            while tell(bus, || bus.connect(), &told) {
                std::thread::park_timeout(AGAIN);
            }
        })?;
    }
    thread("away").spawn(move || heed(&heard, &owner))?;
    Ok(told)
}

/// Tell what is heard on this bus until it goes away. False when nobody listens any more.
fn tell(bus: Bus, connect: impl FnOnce() -> Result<Connection>, told: &Sender<Told>) -> bool {
    // Why a bus is not there is nothing that the person or the program could do something about.
    let _ = connect().and_then(|connection| forward(bus, &connection, told));
    told.send(Told::Gone(bus)).is_ok()
}

fn forward(bus: Bus, connection: &Connection, told: &Sender<Told>) -> Result<()> {
    let messages = MessageIterator::from(connection);
    let daemon = DBusProxy::new(connection)?;
    for rule in bus.rules()? {
        daemon.add_match_rule(rule)?;
    }
    let mut listened_to = told.send(Told::Open(bus, connection.clone())).is_ok();
    for message in messages {
        if let Some((sign, object)) = read(&message?) {
            listened_to = told.send(Told::Sign(sign, object)).is_ok();
        }
        if !listened_to {
            break;
        }
    }
    Ok(())
}

fn read(message: &Message) -> Option<(Sign, OwnedObjectPath)> {
    let header = message.header();
    if header.message_type() != Type::Signal {
        return None;
    }
    let flag = message.body().deserialize().ok();
    let sign = meaning(header.interface()?.as_str(), header.member()?.as_str(), flag)?;
    Some((sign, header.path()?.to_owned().into()))
}

/// What a signal means; `flag` is what it carries.
fn meaning(interface: &str, member: &str, flag: Option<bool>) -> Option<Sign> {
    match (interface, member, flag) {
        (MANAGER, "PrepareForSleep", Some(true)) => Some(Sign::Sleep),
        (MANAGER, "PrepareForSleep", Some(false)) => Some(Sign::Wake),
        (SESSION, "Lock", _) => Some(Sign::Screen(true)),
        (SESSION, "Unlock", _) => Some(Sign::Screen(false)),
        (saver, "ActiveChanged", Some(on)) if SCREEN_SAVERS.contains(&saver) => Some(Sign::Screen(on)),
        _ => None,
    }
}

/// Act on what is told. While the owner wants it, logind waits for us before the computer sleeps; it does so as long as
/// the descriptor that it gave us is open.
fn heed(heard: &Receiver<Told>, owner: &impl Owner) {
    let mut logind: Option<Connection> = None;
    let mut hold: Option<OwnedFd> = None;
    let mut asleep = false;
    for told in heard {
        match told {
            Told::Open(Bus::System, connection) => (logind, asleep) = (Some(connection), false),
            Told::Gone(Bus::System) => (logind, hold) = (None, None),
            Told::Open(Bus::Session, _) | Told::Gone(Bus::Session) | Told::Switched => {}
            Told::Sign(Sign::Sleep, _) => {
                asleep = true;
                owner.sleep();
            }
            Told::Sign(Sign::Wake, _) => asleep = false,
            Told::Sign(Sign::Screen(locked), object) => {
                if logind.as_ref().is_none_or(|bus| ours(bus, &object)) {
                    owner.screen(locked);
                }
            }
        }
        hold = match &logind {
            Some(bus) if owner.wants() && !asleep => hold.or_else(|| delay_sleep(bus)),
            _ => None,
        };
    }
}

/// Have logind wait for us before the computer sleeps.
fn delay_sleep(bus: &Connection) -> Option<OwnedFd> {
    let what = ("sleep", "Mementory", "The vault is locked first", "delay");
    let answer = bus.call_method(Some(LOGIND), MANAGER_PATH, Some(MANAGER), "Inhibit", &what).ok()?;
    answer.body().deserialize().ok()
}

/// Is this about a screen of ours? A session of logind may be somebody else's; what is not one is of our own desktop. When
/// in doubt it is ours: better locked than left open.
fn ours(bus: &Connection, object: &OwnedObjectPath) -> bool {
    if !object.starts_with(MANAGER_PATH) {
        return true;
    }
    match (user_of(bus, object), own_user(bus)) {
        (Some(theirs), Some(own)) => theirs == own,
        _ => true,
    }
}

fn user_of(bus: &Connection, session: &OwnedObjectPath) -> Option<u32> {
    let answer = bus.call_method(Some(LOGIND), session, Some(PROPERTIES), "Get", &(SESSION, "User")).ok()?;
    let user: OwnedValue = answer.body().deserialize().ok()?;
    let (id, _): (u32, OwnedObjectPath) = Structure::try_from(user).ok()?.try_into().ok()?;
    Some(id)
}

fn own_user(bus: &Connection) -> Option<u32> {
    let name = BusName::from(bus.unique_name()?.inner().clone());
    DBusProxy::new(bus).ok()?.get_connection_unix_user(name).ok()
}

#[cfg(test)]
mod tests;
