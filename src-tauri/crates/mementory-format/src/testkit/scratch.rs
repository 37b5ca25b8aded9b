//! Temporary folders and their files.
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// A temporary folder that is deleted when the value is dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// Creates a folder with a unique path.
    pub fn new(name: &str) -> Self {
        static NEXT_FOLDER_NUMBER: AtomicU32 = AtomicU32::new(0);
        let n = NEXT_FOLDER_NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("mementory-test-{}-{n}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    /// The path of `name` in this folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file in this folder and creates the folders above it.
    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        put(&self.0, &[(name, text.as_ref())]);
        self.at(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes files below a folder and creates the folders above them.
pub fn put(path: &Path, files: &[(&str, &[u8])]) {
    for (name, bytes) in files {
        let full_path = path.join(name);
        std::fs::create_dir_all(full_path.parent().unwrap()).unwrap();
        std::fs::write(full_path, bytes).unwrap();
    }
}

/// All files below a folder, by path.
pub fn tree(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut out, mut pending) = (BTreeMap::new(), vec![path.to_path_buf()]);
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let at = entry.unwrap().path();
            if at.is_dir() {
                pending.push(at);
            } else {
                let name = at.strip_prefix(path).unwrap().to_string_lossy().replace('\\', "/");
                out.insert(name, std::fs::read(&at).unwrap());
            }
        }
    }
    out
}
