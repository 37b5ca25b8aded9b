//! Turns the configuration, the icons and the permissions into what the shell embeds.
//!
//! Each command of ours gets its own permission; the list is read from the capability file, so a command
//! that is not granted there cannot be called at all.

/// Prefix of a permission that grants one of our own commands.
const OWN: &str = "allow-";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let capability: serde_json::Value = serde_json::from_str(&std::fs::read_to_string("capabilities/main.json")?)?;
    let commands: Vec<&'static str> = capability["permissions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|permission| permission.as_str()?.strip_prefix(OWN))
        .map(|name| &*name.replace('-', "_").leak())
        .collect();
    let manifest = tauri_build::AppManifest::new().commands(commands.leak());
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    Ok(())
}
