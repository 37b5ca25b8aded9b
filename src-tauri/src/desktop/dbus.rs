//! Progress on the launcher and notifications on Linux. A separate thread sends them over D-Bus, so that no job waits
//! for the desktop. If the desktop lacks a service, nothing is shown, and no error is reported.
use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use zbus::Result;
use zbus::blocking::{Connection, connection::Builder};
use zbus::zvariant::Value;

/// D-Bus interface of the progress signal. The launchers of Ubuntu and KDE listen for it, and so do several docks.
const LAUNCHER_INTERFACE: &str = "com.canonical.Unity.LauncherEntry";
const LAUNCHER_PATH: &str = "/com/canonical/unity/launcherentry/1";
const NOTIFICATIONS_NAME: &str = "org.freedesktop.Notifications";
const NOTIFICATIONS_PATH: &str = "/org/freedesktop/Notifications";
const PORTAL_NAME: &str = "org.freedesktop.portal.Desktop";
const PORTAL_PATH: &str = "/org/freedesktop/portal/desktop";
const PORTAL_INTERFACE: &str = "org.freedesktop.portal.Notification";
/// Id of every notification of this program. Because all have the same id, each notification replaces the previous one.
const PORTAL_ID: &str = "job";
/// This file is in every Flatpak sandbox and nowhere else.
const SANDBOX_MARK: &str = "/.flatpak-info";
/// Timeout value that lets the desktop decide when a notification disappears.
const DESKTOP_DECIDES: i32 = -1;
/// Maximum wait for the reply to a method call.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// A request to the desktop to show something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// Progress in percent. None hides the progress.
    Progress(Option<u8>),
    /// A notification with this text.
    Notification(&'static str),
}

/// Sends messages until the process ends.
pub fn start() -> std::io::Result<Sender<Message>> {
    let (sender, receiver) = channel();
    let is_sandboxed = Path::new(SANDBOX_MARK).exists();
    let connect = || Builder::session()?.method_timeout(REPLY_TIMEOUT).build();
    std::thread::Builder::new().name("desktop".into()).spawn(move || deliver(&receiver, connect, is_sandboxed))?;
    Ok(sender)
}

fn deliver(messages: &Receiver<Message>, connect: impl Fn() -> Result<Connection>, is_sandboxed: bool) {
    let mut bus = None;
    for message in messages {
        if bus.is_none() {
            bus = connect().ok();
        }
        // An error may mean that the bus is gone, so the next message gets a new connection.
        bus = bus.filter(|connection| send(connection, message, is_sandboxed).is_ok());
    }
}

fn send(bus: &Connection, message: Message, is_sandboxed: bool) -> Result<()> {
    match message {
        Message::Progress(percent) => {
            let entry = format!("application://{}.desktop", desktop_entry(is_sandboxed));
            let share = f64::from(percent.unwrap_or_default()) / 100.0;
            let properties =
                HashMap::from([("progress", Value::from(share)), ("progress-visible", Value::from(percent.is_some()))]);
            bus.emit_signal(None::<&str>, LAUNCHER_PATH, LAUNCHER_INTERFACE, "Update", &(entry, properties))
        }
        Message::Notification(text) if is_sandboxed => {
            let notification = (PORTAL_ID, HashMap::from([("title", Value::from(text))]));
            bus.call_method(Some(PORTAL_NAME), PORTAL_PATH, Some(PORTAL_INTERFACE), "AddNotification", &notification)
                .map(drop)
        }
        Message::Notification(text) => {
            // With the name of the desktop file, a click on the notification brings the window to the front.
            let hints = HashMap::from([("desktop-entry", Value::from(desktop_entry(is_sandboxed)))]);
            let (actions, body): ([&str; 0], &str) = ([], "");
            let notification =
                ("Mementory", 0_u32, "mementory-app", text, body, actions.as_slice(), hints, DESKTOP_DECIDES);
            bus.call_method(
                Some(NOTIFICATIONS_NAME),
                NOTIFICATIONS_PATH,
                Some(NOTIFICATIONS_NAME),
                "Notify",
                &notification,
            )
            .map(drop)
        }
    }
}

/// Name of the desktop file, without its ending. Flatpak names the file by the program's identifier.
fn desktop_entry(is_sandboxed: bool) -> &'static str {
    if is_sandboxed { "app.mementory.desktop" } else { "Mementory" }
}

#[cfg(test)]
mod tests;
