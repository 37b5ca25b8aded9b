//! A home folder for tests.

use mementory_clients::{Client, Places, Server, System};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// A home folder that is removed when it is dropped.
pub struct Home {
    folder: tempfile::TempDir,
    pub places: Places,
}

impl Home {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::in_home(System::Linux, folder.path().join("home"));
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder, places }
    }

    /// The parent of the home folder, for files outside the home folder.
    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, client: Client) -> PathBuf {
        self.places.config_path(client)
    }

    /// Writes a client's configuration and returns its path.
    pub fn write(&self, client: Client, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(client);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// All files below the home folder with their bytes.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut paths = Vec::new();
        let mut folders = vec![self.places.home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.is_file() {
                    let bytes = fs::read(&path).unwrap();
                    paths.push((path, bytes));
                }
            }
        }
        paths.sort();
        paths
    }
}

/// The server that tests connect.
pub fn server() -> Server {
    Server {
        name: "mementory".into(),
        command: "/opt/Mementory/mementory-mcp".into(),
        args: vec!["--client".into(), "a \"b\" \\ ü".into()],
        env: [("MEMENTORY_TOKEN".to_owned(), "t-0123".to_owned())].into(),
    }
}

/// 2026-11-25T19:00:00Z
pub fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_633_200)
}

/// The path of a file or folder with test data.
pub fn data(folder: &str) -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("tests").join(folder)
}
