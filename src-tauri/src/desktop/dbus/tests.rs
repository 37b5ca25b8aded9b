//! Tests on a private bus with a fake desktop.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::desktop::private_bus::PrivateBus;
use zbus::blocking::{MessageIterator, fdo::DBusProxy};
use zbus::zvariant::OwnedValue;

/// Maximum wait for what the fake desktop receives.
const DEADLINE: Duration = Duration::from_secs(30);

type Properties = HashMap<String, OwnedValue>;

/// A notification as the desktop received it: program, text, and all other parts that could contain content.
#[derive(Debug, PartialEq, Eq)]
struct Notification {
    program: String,
    title: String,
    remainder: Vec<String>,
}

struct FakeNotifications(Sender<Notification>);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl FakeNotifications {
    #[allow(clippy::too_many_arguments, reason = "the specification's method has eight")]
    fn notify(
        &self,
        program: String,
        _replaces: u32,
        _icon: String,
        title: String,
        body: String,
        actions: Vec<String>,
        hints: Properties,
        _expires: i32,
    ) -> u32 {
        let hints = hints.into_iter().map(|(name, value)| format!("{name}={}", String::try_from(value).unwrap()));
        let remainder = hints.chain(actions).chain([body]).filter(|text| !text.is_empty()).collect();
        self.0.send(Notification { program, title, remainder }).unwrap();
        1
    }
}

struct FakePortal(Sender<Notification>);

#[zbus::interface(name = "org.freedesktop.portal.Notification")]
impl FakePortal {
    fn add_notification(&self, id: String, mut notification: Properties) {
        let title = notification.remove("title").and_then(|title| String::try_from(title).ok()).unwrap();
        self.0.send(Notification { program: id, title, remainder: notification.into_keys().collect() }).unwrap();
    }
}

#[test]
#[cfg_attr(not(has_dbus_daemon), ignore = "dbus-daemon was not installed when this was built")]
fn a_notification_reaches_the_desktop_or_inside_a_sandbox_the_portal() {
    let bus = PrivateBus::start();
    let desktop = bus.connect();
    let (sender, received) = channel();
    desktop.object_server().at(NOTIFICATIONS_PATH, FakeNotifications(sender.clone())).unwrap();
    desktop.object_server().at(PORTAL_PATH, FakePortal(sender)).unwrap();
    desktop.request_name(NOTIFICATIONS_NAME).unwrap();
    desktop.request_name(PORTAL_NAME).unwrap();
    for (is_sandboxed, program, remainder) in
        [(false, "Mementory", vec!["desktop-entry=Mementory".to_owned()]), (true, PORTAL_ID, Vec::new())]
    {
        let (messages, receiver) = channel();
        messages.send(Message::Notification("The import has ended")).unwrap();
        drop(messages);
        deliver(&receiver, || Ok(bus.connect()), is_sandboxed);
        let (program, title) = (program.to_owned(), "The import has ended".to_owned());
        assert_eq!(received.recv_timeout(DEADLINE).unwrap(), Notification { program, title, remainder });
    }
}

#[test]
#[cfg_attr(not(has_dbus_daemon), ignore = "dbus-daemon was not installed when this was built")]
fn the_launcher_is_sent_the_progress_of_the_programs_desktop_file() {
    let bus = PrivateBus::start();
    let launcher = bus.connect();
    let signals = MessageIterator::from(&launcher);
    let rule = format!("type='signal',interface='{LAUNCHER_INTERFACE}'");
    DBusProxy::new(&launcher).unwrap().add_match_rule(rule.as_str().try_into().unwrap()).unwrap();
    let (messages, receiver) = channel();
    for percent in [Some(0), Some(42), None] {
        messages.send(Message::Progress(percent)).unwrap();
    }
    drop(messages);
    deliver(&receiver, || Ok(bus.connect()), false);
    let updates = signals
        .map(|message| message.unwrap())
        .filter(|message| {
            message.header().interface().is_some_and(|interface| interface.as_str() == LAUNCHER_INTERFACE)
        })
        .map(|message| {
            let (entry, properties): (String, Properties) = message.body().deserialize().unwrap();
            assert_eq!(entry, "application://Mementory.desktop");
            let visible = bool::try_from(properties["progress-visible"].try_clone().unwrap()).unwrap();
            (visible, f64::try_from(properties["progress"].try_clone().unwrap()).unwrap())
        })
        .take(3);
    assert_eq!(updates.collect::<Vec<_>>(), [(true, 0.0), (true, 0.42), (false, 0.0)]);
}

#[test]
#[cfg_attr(not(has_dbus_daemon), ignore = "dbus-daemon was not installed when this was built")]
fn a_missing_bus_or_desktop_is_tried_again_with_the_next_message() {
    let bus = PrivateBus::start();
    let (messages, receiver) = channel();
    for _ in 0..3 {
        messages.send(Message::Notification("The import has ended")).unwrap();
    }
    drop(messages);
    let attempts = std::cell::Cell::new(0);
    let connect = || match attempts.replace(attempts.get() + 1) {
        0 => Builder::address("unix:path=/nowhere/bus")?.build(),
        _ => Ok(bus.connect()),
    };
    deliver(&receiver, connect, false);
    assert_eq!(attempts.get(), 3, "no desktop answers, so each message gets a new connection");
}
