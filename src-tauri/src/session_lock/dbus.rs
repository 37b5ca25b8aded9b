//! Lock and sleep events on Linux, received over D-Bus. The desktop announces that the screen was locked. logind
//! announces locked sessions too, and that the computer is about to sleep. A missing bus or service is not reported,
//! since the idle timer still locks the vault.
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use zbus::blocking::{Connection, MessageIterator, connection::Builder, fdo::DBusProxy};
use zbus::message::{Message, Type};
use zbus::names::BusName;
use zbus::zvariant::{OwnedFd, OwnedObjectPath, OwnedValue, Structure};
use zbus::{MatchRule, Result};

const LOGIND_NAME: &str = "org.freedesktop.login1";
const MANAGER_INTERFACE: &str = "org.freedesktop.login1.Manager";
const MANAGER_PATH: &str = "/org/freedesktop/login1";
const SESSION_INTERFACE: &str = "org.freedesktop.login1.Session";
const PROPERTIES_INTERFACE: &str = "org.freedesktop.DBus.Properties";
/// The interfaces that desktops offer for screen savers. Each desktop offers one of them, and all have the same signal.
const SCREEN_SAVER_INTERFACES: [&str; 5] = [
    "org.freedesktop.ScreenSaver",
    "org.gnome.ScreenSaver",
    "org.cinnamon.ScreenSaver",
    "org.mate.ScreenSaver",
    "org.xfce.ScreenSaver",
];
/// Wait before reconnecting to a bus that is missing or was closed.
const RECONNECT_AFTER: Duration = Duration::from_secs(60);
/// Maximum wait for the reply to a method call.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// Reacts to lock and sleep events.
pub trait LockListener: Send + 'static {
    /// True if the person wants the vault to lock with the session.
    fn is_enabled(&self) -> bool;
    /// Called when the screen was locked or unlocked.
    fn on_screen_lock(&self, locked: bool);
    /// Called before the computer sleeps; logind delays the sleep until this returns.
    fn before_sleep(&self);
}

/// What a D-Bus signal announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemEvent {
    /// The screen was locked (true) or unlocked (false).
    ScreenLocked(bool),
    /// The computer is about to sleep.
    AboutToSleep,
    /// The computer has woken up.
    Woke,
}

/// Messages to the thread that handles lock and sleep events.
pub enum BusMessage {
    /// Signals of this bus are now received.
    Connected(Bus, Connection),
    /// The bus was closed, or could not be reached.
    Disconnected(Bus),
    /// An event, and the D-Bus object whose signal announced it.
    Event(SystemEvent, OwnedObjectPath),
    /// The person changed whether the vault locks with the session.
    SettingChanged,
}

/// The two buses of D-Bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bus {
    /// The system bus, used by logind.
    System,
    /// The session bus, used by the desktop.
    Session,
}

impl Bus {
    fn connect(self) -> Result<Connection> {
        let builder = match self {
            Self::System => Builder::system(),
            Self::Session => Builder::session(),
        };
        builder?.method_timeout(REPLY_TIMEOUT).build()
    }

    /// The signals to subscribe to. Any user can send signals on the system bus, so on this bus only signals from
    /// logind count.
    fn match_rules(self) -> Result<Vec<MatchRule<'static>>> {
        let signal =
            |interface, member| MatchRule::builder().msg_type(Type::Signal).interface(interface)?.member(member);
        match self {
            Self::System => {
                [(MANAGER_INTERFACE, "PrepareForSleep"), (SESSION_INTERFACE, "Lock"), (SESSION_INTERFACE, "Unlock")]
                    .into_iter()
                    .map(|(interface, member)| Ok(signal(interface, member)?.sender(LOGIND_NAME)?.build()))
                    .collect()
            }
            Self::Session => {
                SCREEN_SAVER_INTERFACES.into_iter().map(|saver| Ok(signal(saver, "ActiveChanged")?.build())).collect()
            }
        }
    }
}

/// Listens until the process ends. [`BusMessage::SettingChanged`] can be sent to the returned channel.
pub fn listen(listener: impl LockListener) -> std::io::Result<Sender<BusMessage>> {
    let (sender, receiver) = channel();
    let thread = |name: &str| std::thread::Builder::new().name(name.into());
    for (name, bus) in [("system bus", Bus::System), ("session bus", Bus::Session)] {
        let sender = sender.clone();
        thread(name).spawn(move || {
            while forward_until_closed(bus, || bus.connect(), &sender) {
                std::thread::park_timeout(RECONNECT_AFTER);
            }
        })?;
    }
    thread("session lock").spawn(move || handle_messages(&receiver, &listener))?;
    Ok(sender)
}

/// Forwards the events of this bus until it is closed. Returns false if the receiver has ended.
fn forward_until_closed(bus: Bus, connect: impl FnOnce() -> Result<Connection>, sender: &Sender<BusMessage>) -> bool {
    // Neither the person nor the program can do anything about a missing bus, so the error is dropped.
    let _ = connect().and_then(|connection| forward(bus, &connection, sender));
    sender.send(BusMessage::Disconnected(bus)).is_ok()
}

fn forward(bus: Bus, connection: &Connection, sender: &Sender<BusMessage>) -> Result<()> {
    let messages = MessageIterator::from(connection);
    let daemon = DBusProxy::new(connection)?;
    for rule in bus.match_rules()? {
        daemon.add_match_rule(rule)?;
    }
    let mut has_receiver = sender.send(BusMessage::Connected(bus, connection.clone())).is_ok();
    for message in messages {
        if let Some((event, object)) = parse_signal(&message?) {
            has_receiver = sender.send(BusMessage::Event(event, object)).is_ok();
        }
        if !has_receiver {
            break;
        }
    }
    Ok(())
}

fn parse_signal(message: &Message) -> Option<(SystemEvent, OwnedObjectPath)> {
    let header = message.header();
    if header.message_type() != Type::Signal {
        return None;
    }
    let flag = message.body().deserialize().ok();
    let event = event_for_signal(header.interface()?.as_str(), header.member()?.as_str(), flag)?;
    Some((event, header.path()?.to_owned().into()))
}

/// The event that a signal announces; `flag` is the signal's argument.
fn event_for_signal(interface: &str, member: &str, flag: Option<bool>) -> Option<SystemEvent> {
    match (interface, member, flag) {
        (MANAGER_INTERFACE, "PrepareForSleep", Some(true)) => Some(SystemEvent::AboutToSleep),
        (MANAGER_INTERFACE, "PrepareForSleep", Some(false)) => Some(SystemEvent::Woke),
        (SESSION_INTERFACE, "Lock", _) => Some(SystemEvent::ScreenLocked(true)),
        (SESSION_INTERFACE, "Unlock", _) => Some(SystemEvent::ScreenLocked(false)),
        (saver, "ActiveChanged", Some(on)) if SCREEN_SAVER_INTERFACES.contains(&saver) => {
            Some(SystemEvent::ScreenLocked(on))
        }
        _ => None,
    }
}

/// Handles messages. As long as the vault is set to lock with the session, keeps a sleep inhibitor open: logind delays
/// sleep until the file descriptor that it returned is closed, so that the vault can be locked first.
fn handle_messages(messages: &Receiver<BusMessage>, listener: &impl LockListener) {
    let mut logind: Option<Connection> = None;
    let mut inhibitor: Option<OwnedFd> = None;
    let mut is_asleep = false;
    for message in messages {
        match message {
            BusMessage::Connected(Bus::System, connection) => (logind, is_asleep) = (Some(connection), false),
            BusMessage::Disconnected(Bus::System) => (logind, inhibitor) = (None, None),
            BusMessage::Connected(Bus::Session, _)
            | BusMessage::Disconnected(Bus::Session)
            | BusMessage::SettingChanged => {}
            BusMessage::Event(SystemEvent::AboutToSleep, _) => {
                is_asleep = true;
                listener.before_sleep();
            }
            BusMessage::Event(SystemEvent::Woke, _) => is_asleep = false,
            BusMessage::Event(SystemEvent::ScreenLocked(locked), object) => {
                if logind.as_ref().is_none_or(|bus| is_our_session(bus, &object)) {
                    listener.on_screen_lock(locked);
                }
            }
        }
        inhibitor = match &logind {
            Some(bus) if listener.is_enabled() && !is_asleep => inhibitor.or_else(|| inhibit_sleep(bus)),
            _ => None,
        };
    }
}

/// Asks logind to delay sleep until the returned descriptor is closed.
fn inhibit_sleep(bus: &Connection) -> Option<OwnedFd> {
    let arguments = ("sleep", "Mementory", "The vault is locked first", "delay");
    let reply =
        bus.call_method(Some(LOGIND_NAME), MANAGER_PATH, Some(MANAGER_INTERFACE), "Inhibit", &arguments).ok()?;
    reply.body().deserialize().ok()
}

/// True if the event concerns this user's screen. A logind session may be that of another user; any other object is
/// part of this user's desktop. If the owner cannot be determined, returns true, because locking too often is safer.
fn is_our_session(bus: &Connection, object: &OwnedObjectPath) -> bool {
    if !object.starts_with(MANAGER_PATH) {
        return true;
    }
    match (session_user(bus, object), current_user(bus)) {
        (Some(theirs), Some(own)) => theirs == own,
        _ => true,
    }
}

fn session_user(bus: &Connection, session: &OwnedObjectPath) -> Option<u32> {
    let reply = bus
        .call_method(Some(LOGIND_NAME), session, Some(PROPERTIES_INTERFACE), "Get", &(SESSION_INTERFACE, "User"))
        .ok()?;
    let user: OwnedValue = reply.body().deserialize().ok()?;
    let (id, _): (u32, OwnedObjectPath) = Structure::try_from(user).ok()?.try_into().ok()?;
    Some(id)
}

fn current_user(bus: &Connection) -> Option<u32> {
    let name = BusName::from(bus.unique_name()?.inner().clone());
    DBusProxy::new(bus).ok()?.get_connection_unix_user(name).ok()
}

#[cfg(test)]
mod tests;
