//! Handles paths that a person or the operating system asks the program to open.
use crate::{
    ApiError, ApiResult,
    types::{OpenRequest, RefusedPath},
};
use mementory_crypto::HEADER_FILE;
use std::path::{Path, PathBuf};

/// The canonical path of a file or folder, without links and `..`. A path that does not exist is returned unchanged.
pub fn real_path(path: &Path) -> PathBuf {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // Windows prefixes canonical paths with `\\?\`, which some programs do not accept and people do not recognise.
    match real.to_str().and_then(|text| text.strip_prefix(r"\\?\")).filter(|text| text.get(1..2) == Some(":")) {
        Some(plain) if cfg!(windows) => plain.into(),
        _ => real,
    }
}

/// Sorts paths that the operating system asked to open into a vault, files to import and refused paths. No file is
/// read; devices and pipes are not even opened. If there are several vaults, only the first one is accepted, because
/// the window can show only one.
pub fn sort_opened(paths: &[PathBuf]) -> OpenRequest {
    let mut request = OpenRequest::default();
    let refused_path =
        |path: &Path, reason: &str| RefusedPath { path: path.display().to_string(), reason: reason.into() };
    for path in paths {
        // A folder that contains a header is a vault, whatever its name is. The path of the header itself also means
        // the vault, because people double-click the header.
        let vault =
            if path.file_name().is_some_and(|name| name == HEADER_FILE) { path.parent() } else { Some(&**path) };
        let vault = vault.filter(|dir| dir.join(HEADER_FILE).is_file());
        let found = vault.map_or_else(|| path.clone(), real_path);
        let reason = refusal_reason(&vault.map_or_else(|| path.clone(), |dir| dir.join(HEADER_FILE)));
        match (found.to_str(), reason, vault) {
            (_, Some(reason), _) => request.refused.push(refused_path(path, reason)),
            // A path that is not Unicode is refused, because the window passes paths back as strings.
            (None, None, _) => request.refused.push(refused_path(path, NOT_UNICODE)),
            (Some(text), None, None) => request.paths.push(text.to_owned()),
            (Some(text), None, Some(vault)) => match &request.vault {
                Some(first) if first != text => request.refused.push(refused_path(vault, "another_vault")),
                _ => request.vault = Some(text.to_owned()),
            },
        }
    }
    request
}

/// The reason for refusing a path that is not Unicode.
const NOT_UNICODE: &str = "not_unicode";

/// Returns the path that a person chose as text. A path that is not Unicode is refused, because the window passes paths
/// back as strings.
///
/// # Errors
/// `not_unicode`.
pub fn path_text(path: &Path) -> ApiResult<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let message = format!(
            "{name} can't be used, because its path contains a name that is not Unicode text. Nothing was changed. \
             Rename it, then choose it again."
        );
        ApiError::new(NOT_UNICODE, 6, message).with("file", name)
    })
}

/// The reason why a path cannot be opened. None if it can be opened.
fn refusal_reason(path: &Path) -> Option<&'static str> {
    match path.metadata() {
        Ok(found) if found.is_dir() => std::fs::read_dir(path).is_err().then_some("unreadable"),
        Ok(found) if found.is_file() => std::fs::File::open(path).is_err().then_some("unreadable"),
        Ok(_) => Some("no_file"),
        // A second instance of the program passes its paths on as text, in which a replacement character stands for
        // everything that is not Unicode.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Some(if path.to_string_lossy().contains(char::REPLACEMENT_CHARACTER) { NOT_UNICODE } else { "missing" })
        }
        Err(_) => Some("unreadable"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]
    use super::*;

    #[test]
    fn opened_paths_are_sorted_into_a_vault_files_and_refused_paths() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let path_of = |name: &str| root.join(name);
        std::fs::write(path_of("a.zip"), "PK").unwrap();
        for vault in ["Old.keepsake", "other"] {
            std::fs::create_dir(path_of(vault)).unwrap();
            std::fs::write(path_of(vault).join("vault.json"), "{}").unwrap();
        }
        std::fs::create_dir(path_of("notes")).unwrap();
        let paths = ["gone.zip", "a.zip", "notes", "Old.keepsake/vault.json", "other"].map(path_of);
        let text = |name: &str| path_of(name).display().to_string();
        let refused = [("gone.zip", "missing"), ("other", "another_vault")]
            .map(|(name, reason)| RefusedPath { path: text(name), reason: reason.into() })
            .to_vec();
        let expected = OpenRequest {
            vault: Some(text("Old.keepsake")),
            paths: vec![text("a.zip"), text("notes")],
            refused,
            demonstration: false,
        };
        assert_eq!(sort_opened(&paths), expected);
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_non_unicode_names_are_refused_without_being_opened() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let non_unicode = folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.zip"));
        std::fs::write(&non_unicode, "PK").unwrap();
        let sorted_paths = sort_opened(&["/dev/zero".into(), non_unicode, "/dev/null/inside".into()]);
        let reasons: Vec<_> = sorted_paths.refused.iter().map(|refused| refused.reason.as_str()).collect();
        assert_eq!(reasons, ["no_file", "not_unicode", "unreadable"]);
        assert!(sorted_paths.paths.is_empty() && sorted_paths.vault.is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_path_with_replacement_characters_or_not_in_unicode_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let lossy = sort_opened(&["/nowhere/caf\u{fffd}.zip".into()]);
        assert_eq!(lossy.refused.first().map(|refused| refused.reason.as_str()), Some("not_unicode"));
        let error = path_text(Path::new(std::ffi::OsStr::from_bytes(b"/tmp/caf\xe9.zip"))).unwrap_err();
        assert_eq!((error.code, error.details["file"].as_str()), ("not_unicode", "caf\u{fffd}.zip"));
        assert_eq!(path_text(Path::new("/tmp/caf\u{e9}.zip")).unwrap(), "/tmp/caf\u{e9}.zip");
    }

    #[cfg(unix)]
    #[test]
    fn a_vault_is_recognised_whatever_path_it_is_opened_by() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().canonicalize().unwrap().join("Mine.mementory");
        std::fs::create_dir(&vault).unwrap();
        std::fs::write(vault.join("vault.json"), "{}").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&vault, &link).unwrap();
        let roundabout = folder.path().join("link/../Mine.mementory/.");
        let paths = [link.join("vault.json"), roundabout, vault.clone()];
        let text = vault.display().to_string();
        let expected = OpenRequest { vault: Some(text), ..OpenRequest::default() };
        assert_eq!(sort_opened(&paths), expected);
    }

    #[cfg(unix)]
    #[test]
    fn files_and_vaults_that_cannot_be_read_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path_of = |name: &str| folder.path().join(name);
        std::fs::create_dir(path_of("vault")).unwrap();
        for name in ["a.zip", "vault/vault.json"] {
            std::fs::write(path_of(name), "{}").unwrap();
            std::fs::set_permissions(path_of(name), std::fs::Permissions::from_mode(0o000)).unwrap();
        }
        if std::fs::File::open(path_of("a.zip")).is_ok() {
            // The test is skipped for the superuser, who can read everything.
            return report_skipped("files_and_vaults_that_cannot_be_read_are_refused");
        }
        std::fs::create_dir(path_of("closed")).unwrap();
        std::fs::set_permissions(path_of("closed"), std::fs::Permissions::from_mode(0o000)).unwrap();
        let error = crate::Session::open(&path_of("closed"), "correct horse battery staple").err().unwrap();
        assert_eq!(error.code, "no_permission");
        let sorted_paths = sort_opened(&[path_of("a.zip"), path_of("vault")]);
        let reasons: Vec<_> = sorted_paths.refused.iter().map(|refused| refused.reason.as_str()).collect();
        assert_eq!(reasons, ["unreadable", "unreadable"]);
    }

    /// Reports the test as skipped, both on standard error and to `npm test` (tests/tools/layers.mjs).
    #[cfg(unix)]
    fn report_skipped(test: &str) {
        let line = format!("{test}\tthe superuser can read every file");
        eprintln!("SKIPPED: {line}");
        if let Some(list) = std::env::var_os("MEMENTORY_SKIPPED") {
            let mut list = std::fs::OpenOptions::new().append(true).create(true).open(list).unwrap();
            std::io::Write::write_all(&mut list, format!("{line}\n").as_bytes()).unwrap();
        }
    }
}
