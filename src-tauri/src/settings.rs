//! Settings that are stored unencrypted: paths of vaults and preferences of the window, never a vault's content.
use crate::window_geometry::WindowGeometry;
use mementory_api::files;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Maximum number of recent vaults.
const MAX_RECENT_VAULTS: usize = 12;
/// Names of the window's preferences that may be stored. The webview itself stores nothing (see `window`).
pub const PREFERENCES: [&str; 11] = [
    "theme",
    "language",
    "text-size",
    "letter-keys",
    "list-width",
    "list-rows",
    "blur",
    "hours",
    "motion",
    "clear-copied",
    "notifications",
];
/// Maximum length of a preference in bytes. The limit keeps vault content out of this unencrypted file.
const MAX_PREFERENCE_BYTES: usize = 32;
const DEFAULT_AUTO_LOCK_MINUTES: u32 = 10;
/// Application identifier from before the program was renamed, which is also the name of its settings folder.
const FORMER_IDENTIFIER: &str = "app.keepsake.desktop";

/// Content of the settings file. Unknown keys are ignored and missing keys get their defaults.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Minutes without input before the vault locks; 0 = never.
    pub auto_lock_minutes: u32,
    /// Whether the vault locks when the screen locks or the computer sleeps.
    pub lock_when_away: bool,
    /// Whether the window is kept out of screenshots and screen sharing, if the system can do that.
    pub hide_from_capture: bool,
    /// Whether connected clients are answered while the window runs.
    pub answer_clients: bool,
    /// Whether opened vaults are remembered (only their paths).
    pub remember_vaults: bool,
    /// Paths of remembered vaults, the last opened first.
    pub recent: Vec<PathBuf>,
    /// Values of the window's preferences by name, see [`PREFERENCES`].
    pub preferences: BTreeMap<String, String>,
    /// Size and place of the window when it last lost the focus or closed.
    #[serde(deserialize_with = "valid_or_none", skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowGeometry>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            auto_lock_minutes: DEFAULT_AUTO_LOCK_MINUTES,
            lock_when_away: true,
            hide_from_capture: true,
            answer_clients: true,
            remember_vaults: true,
            recent: Vec::new(),
            preferences: BTreeMap::new(),
            window: None,
        }
    }
}

/// Returns None instead of an error if the stored size or place of the window is invalid, so that the other settings
/// are kept.
fn valid_or_none<'de, D: Deserializer<'de>>(input: D) -> Result<Option<WindowGeometry>, D::Error> {
    serde_json::Value::deserialize(input).map(|value| serde_json::from_value(value).ok())
}

impl Settings {
    /// Puts a vault at the top of the list, if vaults are remembered.
    pub fn remember(&mut self, vault: &Path) {
        self.forget(vault);
        if self.remember_vaults {
            self.recent.insert(0, vault.to_owned());
            self.recent.truncate(MAX_RECENT_VAULTS);
        }
    }

    /// Removes a vault from the list.
    pub fn forget(&mut self, vault: &Path) {
        // Earlier versions stored the path that the person chose, which may contain links, so the real paths are
        // compared too.
        self.recent.retain(|known| known != vault && files::real_path(known) != vault);
    }

    /// Switches remembering vaults on or off. Switching it off also empties the list.
    pub fn set_remember_vaults(&mut self, remember: bool) {
        self.remember_vaults = remember;
        if !remember {
            self.recent.clear();
        }
    }

    /// Sets or removes a preference. Returns false for an unknown name or a value that is too long.
    pub fn set_preference(&mut self, name: &str, value: Option<String>) -> bool {
        if !PREFERENCES.contains(&name) {
            return false;
        }
        match value {
            Some(value) if value.len() > MAX_PREFERENCE_BYTES => return false,
            Some(value) => self.preferences.insert(name.to_owned(), value),
            None => self.preferences.remove(name),
        };
        true
    }
}

fn read(path: &Path) -> Option<Settings> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// The settings and the file that stores them.
pub struct SettingsFile {
    path: PathBuf,
    settings: Settings,
}

impl SettingsFile {
    /// Reads `settings.json` in `folder`. If the file is missing or damaged, the defaults are used, so that the program
    /// can always start. If there is no file yet, the settings from before the program was renamed are copied once; the
    /// old file is not changed.
    pub fn load(folder: &Path) -> Self {
        let path = folder.join("settings.json");
        if path.exists() {
            return Self { settings: read(&path).unwrap_or_default(), path };
        }
        let former_settings = read(&folder.with_file_name(FORMER_IDENTIFIER).join("settings.json"));
        let mut file = Self { path, settings: Settings::default() };
        if let Some(settings) = former_settings {
            file.change(|current| *current = settings);
        }
        file
    }

    /// The current settings.
    pub fn get(&self) -> &Settings {
        &self.settings
    }

    /// Changes the settings and writes the file. If writing fails, the change still applies until the program ends.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Settings) -> T) -> T {
        let result = change(&mut self.settings);
        let _ = self.write();
        result
    }

    fn write(&self) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec_pretty(&self.settings)?)?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn settings_from_before_the_renaming_are_copied_once() {
        let root = tempfile::tempdir().unwrap();
        let (former_folder, new_folder) =
            (root.path().join(FORMER_IDENTIFIER), root.path().join("app.mementory.desktop"));
        SettingsFile::load(&former_folder).change(|s| {
            s.auto_lock_minutes = 3;
            s.remember(Path::new("/home/me/Memories.keepsake"));
        });

        let mut copied = SettingsFile::load(&new_folder);
        assert_eq!(copied.get().auto_lock_minutes, 3);
        assert_eq!(copied.get().recent, [Path::new("/home/me/Memories.keepsake")]);

        copied.change(|s| s.auto_lock_minutes = 5);
        SettingsFile::load(&former_folder).change(|s| s.auto_lock_minutes = 7);
        assert_eq!(SettingsFile::load(&new_folder).get().auto_lock_minutes, 5, "taken over once, not every time");
        assert_eq!(SettingsFile::load(&former_folder).get().auto_lock_minutes, 7, "the former file is left alone");
    }

    #[test]
    fn changes_survive_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        let mut file = SettingsFile::load(&config);
        file.change(|settings| {
            settings.auto_lock_minutes = 3;
            settings.lock_when_away = false;
            settings.hide_from_capture = false;
            settings.remember(Path::new("/a"));
            settings.remember(Path::new("/b"));
            settings.remember(Path::new("/a"));
            assert!(settings.set_preference("theme", Some("dark".into())));
        });
        let reloaded = SettingsFile::load(&config);
        assert_eq!(reloaded.get().auto_lock_minutes, 3);
        assert!(!reloaded.get().lock_when_away && !reloaded.get().hide_from_capture);
        assert_eq!(reloaded.get().recent, [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert_eq!(reloaded.get().preferences["theme"], "dark");
    }

    #[cfg(unix)]
    #[test]
    fn a_vault_is_remembered_once_whatever_path_it_was_opened_by() {
        let folder = tempfile::tempdir().unwrap();
        let vault = files::real_path(folder.path());
        let link = vault.join("link");
        std::os::unix::fs::symlink(&vault, &link).unwrap();
        let mut settings = Settings { recent: vec![link, "/b".into()], ..Settings::default() };
        settings.remember(&vault);
        assert_eq!(settings.recent, [vault.as_path(), Path::new("/b")]);
        settings.forget(&vault);
        assert_eq!(settings.recent, [Path::new("/b")]);
    }

    #[test]
    fn switches_missing_from_the_file_are_on() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings.json"), b"{\"auto_lock_minutes\": 3}").unwrap();
        let file = SettingsFile::load(folder.path());
        assert!(file.get().auto_lock_minutes == 3 && file.get().lock_when_away && file.get().hide_from_capture);
        assert!(file.get().answer_clients);
    }

    #[test]
    fn the_window_geometry_is_stored_and_an_invalid_one_does_not_drop_other_settings() {
        let folder = tempfile::tempdir().unwrap();
        let area = crate::window_geometry::Area { x: -5, y: 6, width: 1280, height: 800 };
        let geometry = WindowGeometry { area, maximized: true };
        SettingsFile::load(folder.path()).change(|settings| settings.window = Some(geometry));
        assert_eq!(SettingsFile::load(folder.path()).get().window, Some(geometry));
        for window in ["null", "7", "{\"x\": 1}", "{\"x\":0,\"y\":0,\"width\":-1,\"height\":9,\"maximized\":false}"] {
            let text = format!("{{\"auto_lock_minutes\": 3, \"window\": {window}}}");
            std::fs::write(folder.path().join("settings.json"), text).unwrap();
            let file = SettingsFile::load(folder.path());
            assert_eq!((file.get().auto_lock_minutes, file.get().window), (3, None), "{window}");
        }
    }

    #[test]
    fn a_damaged_file_gives_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings.json"), b"{\"recent\": 7").unwrap();
        assert_eq!(SettingsFile::load(folder.path()).get().auto_lock_minutes, DEFAULT_AUTO_LOCK_MINUTES);
    }

    #[test]
    fn nothing_is_remembered_when_that_is_switched_off() {
        let mut settings = Settings::default();
        settings.remember(Path::new("/a"));
        settings.set_remember_vaults(false);
        assert!(settings.recent.is_empty(), "the list is emptied at once");
        settings.remember(Path::new("/b"));
        assert!(settings.recent.is_empty());
    }

    #[test]
    fn only_known_short_preferences_are_stored() {
        let mut settings = Settings::default();
        assert!(!settings.set_preference("draft", Some("x".into())));
        assert!(!settings.set_preference("theme", Some("a sentence from somebody's conversation".into())));
        assert!(settings.preferences.is_empty());
        assert!(settings.set_preference("language", Some("de".into())));
        assert!(settings.set_preference("language", None));
        assert!(settings.set_preference("letter-keys", Some("off".into())));
        assert!(settings.set_preference("letter-keys", None));
        for (name, value) in [
            ("list-rows", "one"),
            ("blur", "on"),
            ("hours", "12"),
            ("motion", "less"),
            ("clear-copied", "never"),
            ("notifications", "off"),
        ] {
            assert!(settings.set_preference(name, Some(value.into())) && settings.set_preference(name, None), "{name}");
        }
        assert!(settings.preferences.is_empty());
    }
}
