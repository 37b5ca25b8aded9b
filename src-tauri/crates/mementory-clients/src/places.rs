//! Where clients and their configurations are. Only [`Places::of_this_computer`] reads the environment; tests use their
//! own folders.
use crate::client::Client;
use std::{
    env,
    path::{Path, PathBuf},
};

/// The operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// The folders that are searched for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The operating system, which determines the paths.
    pub system: System,
    /// The person's home folder.
    pub home: PathBuf,
    /// The folder for settings of applications: `XDG_CONFIG_HOME` or `~/.config` on Linux,
    /// `~/Library/Application Support` on macOS, `%APPDATA%` on Windows.
    pub config: PathBuf,
    /// `%LOCALAPPDATA%` on Windows. Not used elsewhere.
    pub local_data: PathBuf,
    /// `CODEX_HOME`, if it is set.
    pub codex_home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, if it is set.
    pub claude_config_dir: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`, if it is set.
    pub gemini_home: Option<PathBuf>,
    /// The folders in `PATH`, in which programs are looked for.
    pub program_folders: Vec<PathBuf>,
    /// Folders of applications on macOS; empty on other systems.
    pub application_folders: Vec<PathBuf>,
}

impl Places {
    /// The places of this computer, from the environment of this process. `None` if the home folder is unknown.
    pub fn of_this_computer() -> Option<Self> {
        let system = if cfg!(windows) {
            System::Windows
        } else if cfg!(target_os = "macos") {
            System::MacOs
        } else {
            System::Linux
        };
        let absolute_path = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = env::home_dir().filter(|home| home.is_absolute())?;
        let mut places = Self::in_home(system, home);
        match system {
            System::Linux => places.config = absolute_path("XDG_CONFIG_HOME").unwrap_or(places.config),
            System::MacOs => places.application_folders.push("/Applications".into()),
            System::Windows => {
                places.config = absolute_path("APPDATA").unwrap_or(places.config);
                places.local_data = absolute_path("LOCALAPPDATA").unwrap_or(places.local_data);
            }
        }
        places.codex_home = absolute_path("CODEX_HOME");
        places.claude_config_dir = absolute_path("CLAUDE_CONFIG_DIR");
        places.gemini_home = absolute_path("GEMINI_CLI_HOME");
        places.program_folders = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        Some(places)
    }

    /// The usual places below a home folder. `program_folders` is empty, so no programs are found.
    pub fn in_home(system: System, home: PathBuf) -> Self {
        let config = match system {
            System::Linux => home.join(".config"),
            System::MacOs => home.join("Library/Application Support"),
            System::Windows => home.join("AppData/Roaming"),
        };
        Self {
            system,
            config,
            local_data: home.join("AppData/Local"),
            codex_home: None,
            claude_config_dir: None,
            gemini_home: None,
            program_folders: Vec::new(),
            application_folders: if system == System::MacOs { vec![home.join("Applications")] } else { Vec::new() },
            home,
        }
    }

    /// The configuration with the servers that a client starts for every project. It need not exist.
    pub fn config_path(&self, client: Client) -> PathBuf {
        match client {
            Client::ClaudeDesktop => self.claude_desktop_folder().join("claude_desktop_config.json"),
            Client::ClaudeCode => self.claude_config_dir.as_ref().unwrap_or(&self.home).join(".claude.json"),
            Client::Codex => self.codex_folder().join("config.toml"),
            Client::Cursor => self.home.join(".cursor/mcp.json"),
            Client::VsCode => self.config.join("Code/User/mcp.json"),
            Client::Zed => self.zed_folder().join("settings.json"),
            Client::GeminiCli => self.gemini_folder().join("settings.json"),
        }
    }

    /// Files or folders that the client creates when it is first started.
    pub(crate) fn own_files(&self, client: Client) -> Vec<PathBuf> {
        match client {
            Client::ClaudeDesktop => vec![self.claude_desktop_folder()],
            Client::ClaudeCode => vec![self.config_path(client)],
            Client::Codex => vec![self.codex_folder()],
            Client::Cursor => vec![self.home.join(".cursor")],
            Client::VsCode => vec![self.config.join("Code/User")],
            Client::Zed => vec![self.zed_folder()],
            Client::GeminiCli => vec![self.gemini_folder()],
        }
    }

    /// The path of the client's program, if it is in one of `program_folders`.
    pub(crate) fn program(&self, client: Client) -> Option<PathBuf> {
        let endings: &[&str] = if self.system == System::Windows { &[".exe", ".cmd", ".bat"] } else { &[""] };
        let names =
            client.program_names().iter().flat_map(|name| endings.iter().map(move |ending| format!("{name}{ending}")));
        names.flat_map(|name| self.program_folders.iter().map(move |folder| folder.join(&name))).find(|p| p.is_file())
    }

    /// The path of the client's macOS application, if it is installed.
    pub(crate) fn application(&self, client: Client) -> Option<PathBuf> {
        let name = client.mac_application()?;
        self.application_folders.iter().map(|folder| folder.join(name)).find(|path| path.is_dir())
    }

    /// The folder in which Claude Desktop stores its settings. If it was installed from a Windows package, it reads
    /// them only below the package's folder, never in `%APPDATA%`.
    fn claude_desktop_folder(&self) -> PathBuf {
        let package_path = (self.system == System::Windows).then(|| packaged_folder(&self.local_data)).flatten();
        package_path.unwrap_or_else(|| self.config.join("Claude"))
    }

    fn codex_folder(&self) -> PathBuf {
        self.codex_home.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    fn zed_folder(&self) -> PathBuf {
        match self.system {
            System::Linux => self.config.join("zed"),
            System::MacOs => self.home.join(".config/zed"),
            System::Windows => self.config.join("Zed"),
        }
    }

    fn gemini_folder(&self) -> PathBuf {
        self.gemini_home.as_ref().unwrap_or(&self.home).join(".gemini")
    }
}

/// `Packages/Claude_<publisher>/LocalCache/Roaming/Claude`, if the package is installed.
fn packaged_folder(local_data: &Path) -> Option<PathBuf> {
    let mut packages: Vec<_> = std::fs::read_dir(local_data.join("Packages"))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("Claude_")))
        .map(|path| path.join("LocalCache/Roaming/Claude"))
        .collect();
    packages.sort();
    let existing_folder = packages.iter().find(|path| path.is_dir()).cloned();
    existing_folder.or_else(|| packages.into_iter().next())
}
