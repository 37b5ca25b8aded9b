//! Embeds the configuration, the icons and the permissions into the window program.
//!
//! Each of our commands gets its own permission. The list comes from the capability file, so a command that is not
//! granted there cannot be called.
//!
//! Sets `has_dbus_daemon` if `dbus-daemon` is installed. Otherwise `cargo test` lists the tests that need that program
//! as ignored.

/// Prefix of a permission that grants one of our own commands.
const PERMISSION_PREFIX: &str = "allow-";

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
    println!("cargo::rustc-check-cfg=cfg(has_dbus_daemon)");
    println!("cargo::rerun-if-env-changed=PATH");
    if std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|dir| dir.join("dbus-daemon").is_file())
    {
        println!("cargo::rustc-cfg=has_dbus_daemon");
    }
    Ok(())
}
