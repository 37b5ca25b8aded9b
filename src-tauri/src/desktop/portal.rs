//! The desktop's accent colour on Linux, read from the settings portal over D-Bus. If there is no portal, or if the
//! portal does not have this setting, there is no accent colour. The text size is not read here, because the web view
//! follows the desktop's text size by itself.
use super::style::{SystemStyle, accent_text};
use std::time::Duration;
use zbus::blocking::{Connection, MessageIterator, connection::Builder, fdo::DBusProxy};
use zbus::message::{Message, Type};
use zbus::zvariant::{OwnedValue, Value};
use zbus::{MatchRule, Result};

const PORTAL_NAME: &str = "org.freedesktop.portal.Desktop";
const PORTAL_PATH: &str = "/org/freedesktop/portal/desktop";
const SETTINGS_INTERFACE: &str = "org.freedesktop.portal.Settings";
/// Namespace and key of the accent colour: red, green and blue between 0 and 1.
const ACCENT: (&str, &str) = ("org.freedesktop.appearance", "accent-color");
/// Maximum wait for the reply to a method call. The portal may have to be started first.
const REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// Calls `on_change` with the style of the desktop now, and whenever it changes, until the process or the bus ends.
pub fn watch(on_change: impl Fn(SystemStyle) + Send + 'static) -> std::io::Result<()> {
    let connect = || Builder::session()?.method_timeout(REPLY_TIMEOUT).build();
    let thread = std::thread::Builder::new().name("desktop style".into());
    // Without a bus, the program keeps its own style, so the error is ignored.
    thread.spawn(move || drop(connect().and_then(|connection| report_style_changes(&connection, on_change)))).map(drop)
}

fn report_style_changes(connection: &Connection, on_change: impl Fn(SystemStyle)) -> Result<()> {
    let messages = MessageIterator::from(connection);
    let rule = MatchRule::builder()
        .msg_type(Type::Signal)
        .sender(PORTAL_NAME)?
        .path(PORTAL_PATH)?
        .interface(SETTINGS_INTERFACE)?
        .member("SettingChanged")?
        .build();
    // Subscribes before the first reading, so that no change between the two is lost.
    DBusProxy::new(connection)?.add_match_rule(rule)?;
    let mut style = SystemStyle::default();
    if let Ok(value) = read(connection, ACCENT) {
        apply(&mut style, ACCENT, &value);
    }
    on_change(style.clone());
    for message in messages {
        let previous = style.clone();
        apply_signal(&mut style, &message?);
        if style != previous {
            on_change(style.clone());
        }
    }
    Ok(())
}

/// Reads a setting. Uses `Read`, the older of the portal's two methods, because portals before version 2 have only this
/// one.
fn read(connection: &Connection, setting: (&str, &str)) -> Result<OwnedValue> {
    let reply = connection.call_method(Some(PORTAL_NAME), PORTAL_PATH, Some(SETTINGS_INTERFACE), "Read", &setting)?;
    let body = reply.body();
    body.deserialize()
}

fn apply_signal(style: &mut SystemStyle, message: &Message) {
    let header = message.header();
    let is_change = header.interface().is_some_and(|interface| interface.as_str() == SETTINGS_INTERFACE)
        && header.member().is_some_and(|member| member.as_str() == "SettingChanged");
    if is_change && let Ok((namespace, key, value)) = message.body().deserialize::<(&str, &str, Value<'_>)>() {
        apply(style, (namespace, key), &value);
    }
}

/// Copies a setting into `style` if the style contains this setting. A value of another type means "not set".
fn apply(style: &mut SystemStyle, setting: (&str, &str), value: &Value<'_>) {
    if setting != ACCENT {
        return;
    }
    style.accent = match innermost_value(value) {
        Value::Structure(parts) => match parts.fields() {
            [Value::F64(red), Value::F64(green), Value::F64(blue)] => accent_text([*red, *green, *blue]),
            _ => None,
        },
        _ => None,
    };
}

/// Returns the innermost value. The portal's method `Read` returns a variant inside a variant.
fn innermost_value<'a, 'v>(mut value: &'a Value<'v>) -> &'a Value<'v> {
    while let Value::Value(inner) = value {
        value = inner;
    }
    value
}

#[cfg(test)]
mod tests;
