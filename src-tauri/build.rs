//! Embeds the configuration, the icons and the permissions into the window program.
//!
//! Each of our commands gets its own permission. The list comes from the capability file, so a command that is not
//! granted there cannot be called.
//!
//! Takes the texts of notifications from the window's message files, so that translators have one place.
//!
//! Sets `has_dbus_daemon` if `dbus-daemon` is installed. Otherwise `cargo test` lists the tests that need that program
//! as ignored.

/// Prefix of a permission that grants one of our own commands.
const PERMISSION_PREFIX: &str = "allow-";
/// Folder of the window's messages, and the languages in it; the first is the default.
const MESSAGES: (&str, [&str; 3]) = ("../ui/src/lib/text", ["en", "de", "ja"]);
/// Prefix of the messages that are texts of notifications.
const NOTIFICATION_PREFIX: &str = "notify.";

#[allow(clippy::print_stdout, reason = "cargo reads instructions from standard output")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let capability: serde_json::Value = serde_json::from_str(&std::fs::read_to_string("capabilities/main.json")?)?;
    let commands: Vec<&'static str> = capability["permissions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|permission| permission.as_str()?.strip_prefix(PERMISSION_PREFIX))
        .map(|name| &*name.replace('-', "_").leak())
        .collect();
    let manifest = tauri_build::AppManifest::new().commands(commands.leak());
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    write_notification_texts()?;
    println!("cargo::rustc-check-cfg=cfg(has_dbus_daemon)");
    println!("cargo::rerun-if-env-changed=PATH");
    if std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|dir| dir.join("dbus-daemon").is_file())
    {
        println!("cargo::rustc-cfg=has_dbus_daemon");
    }
    Ok(())
}

/// Writes the texts as a Rust array of languages, each with its keys and texts.
#[allow(clippy::print_stdout, reason = "cargo reads instructions from standard output")]
fn write_notification_texts() -> Result<(), Box<dyn std::error::Error>> {
    let (folder, languages) = MESSAGES;
    let mut source = String::from("&[");
    for language in languages {
        let path = format!("{folder}/{language}.json");
        println!("cargo::rerun-if-changed={path}");
        let messages: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        let texts: Vec<(&str, &str)> = messages
            .iter()
            .filter(|(key, _)| key.starts_with(NOTIFICATION_PREFIX))
            .filter_map(|(key, text)| Some((key.as_str(), text.as_str()?)))
            .collect();
        // The debug form of strings and tuples is valid Rust.
        source += &format!("({language:?}, &{texts:?}),");
    }
    source.push(']');
    let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    std::fs::write(std::path::Path::new(&out).join("notification_texts.rs"), source)?;
    Ok(())
}
