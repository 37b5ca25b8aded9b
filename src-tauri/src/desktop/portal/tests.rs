//! Tests on a private bus with a fake portal.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::desktop::private_bus::PrivateBus;
use std::sync::mpsc::channel;

/// Maximum wait for a change of the style.
const DEADLINE: Duration = Duration::from_secs(30);
const OTHER_SETTING: (&str, &str) = ("org.freedesktop.appearance", "color-scheme");

fn style(accent: Option<&str>) -> SystemStyle {
    SystemStyle { accent: accent.map(str::to_owned) }
}

#[test]
fn a_value_of_another_type_means_not_set() {
    let blue = Value::from((0.0, 0.5, 1.0));
    let nested = Value::Value(Box::new(Value::Value(Box::new(blue.try_clone().unwrap()))));
    for (setting, value, expected) in [
        (ACCENT, blue, style(Some("#0080ff"))),
        (ACCENT, nested, style(Some("#0080ff"))),
        (ACCENT, Value::from((-1.0, -1.0, -1.0)), style(None)),
        (ACCENT, Value::from((0.0, 0.5)), style(None)),
        (ACCENT, Value::from("blue"), style(None)),
        (OTHER_SETTING, Value::from(1_u32), style(Some("#111111"))),
    ] {
        let mut changed = style(Some("#111111"));
        apply(&mut changed, setting, &value);
        assert_eq!(changed, expected, "{setting:?} {value:?}");
    }
}

/// A portal with an accent colour.
struct FakePortal;

#[zbus::interface(name = "org.freedesktop.portal.Settings")]
impl FakePortal {
    fn read(&self, namespace: &str, key: &str) -> zbus::fdo::Result<OwnedValue> {
        if (namespace, key) != ACCENT {
            return Err(zbus::fdo::Error::Failed("not found".into()));
        }
        Ok(Value::Value(Box::new(Value::from((0.0, 0.5, 1.0)))).try_to_owned().unwrap())
    }
}

#[test]
#[cfg_attr(not(has_dbus_daemon), ignore = "dbus-daemon was not installed when this was built")]
fn the_style_is_read_and_then_followed() {
    let bus = PrivateBus::start();
    let portal = bus.connect();
    portal.object_server().at(PORTAL_PATH, FakePortal).unwrap();
    portal.request_name(PORTAL_NAME).unwrap();
    let (sender, styles) = channel();
    let connection = bus.connect();
    let follower = std::thread::spawn(move || report_style_changes(&connection, |style| sender.send(style).unwrap()));
    assert_eq!(styles.recv_timeout(DEADLINE).unwrap(), style(Some("#0080ff")));

    let announce = |from: &Connection, (namespace, key): (&str, &str), value: Value<'_>| {
        from.emit_signal(None::<&str>, PORTAL_PATH, SETTINGS_INTERFACE, "SettingChanged", &(namespace, key, value))
            .unwrap();
    };
    announce(&bus.connect(), ACCENT, Value::from((1.0, 1.0, 1.0)));
    announce(&portal, OTHER_SETTING, Value::from(1_u32));
    announce(&portal, ACCENT, Value::from((1.0, 0.0, 0.0)));
    assert_eq!(styles.recv_timeout(DEADLINE).unwrap(), style(Some("#ff0000")), "only the portal is believed");
    announce(&portal, ACCENT, Value::from((-1.0, -1.0, -1.0)));
    assert_eq!(styles.recv_timeout(DEADLINE).unwrap(), style(None));
    drop(bus);
    let _ = follower.join().unwrap();
}

#[test]
#[cfg_attr(not(has_dbus_daemon), ignore = "dbus-daemon was not installed when this was built")]
fn a_desktop_without_portal_has_no_style() {
    let bus = PrivateBus::start();
    let (sender, styles) = channel();
    let connection = bus.connect();
    let follower = std::thread::spawn(move || report_style_changes(&connection, |style| sender.send(style).unwrap()));
    assert_eq!(styles.recv_timeout(DEADLINE).unwrap(), SystemStyle::default());
    drop(bus);
    let _ = follower.join().unwrap();
}
