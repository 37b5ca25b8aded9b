//! A private message bus for tests.
#![allow(clippy::unwrap_used)]
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use zbus::blocking::{Connection, connection::Builder};

/// Maximum wait for the reply to a method call.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// A message bus that no other program uses. The bus ends when the value is dropped.
pub struct PrivateBus {
    child: Child,
    address: String,
}

impl PrivateBus {
    pub fn start() -> Self {
        let mut child = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }

    pub fn connect(&self) -> Connection {
        Builder::address(self.address.as_str()).unwrap().method_timeout(REPLY_TIMEOUT).build().unwrap()
    }
}

impl Drop for PrivateBus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
