//! The files that the system asked this program to open: on the command line, by a double click, or by "Open with".
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Largest number of paths that may wait for the window. Further paths are ignored, because nobody opens that many at
/// once.
const MAX_WAITING: usize = 1000;

/// Argument that opens the demonstration. The desktop entry offers it as an action.
const DEMONSTRATION_OPTION: &str = "--demonstration";

/// The request of one start of the program: the files to open, and whether to open the demonstration.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StartRequest {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Whether to open the demonstration.
    pub demonstration: bool,
}

/// The requests that the window has not received yet, each path once.
#[derive(Default)]
pub struct OpenRequests(Mutex<StartRequest>);

impl OpenRequests {
    /// Adds the requests of one start of the program. A later start hands its requests over to this process.
    pub fn add(&self, requested: StartRequest) {
        let mut waiting_requests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting_requests.demonstration |= requested.demonstration;
        for path in requested.paths {
            if waiting_requests.paths.len() < MAX_WAITING && !waiting_requests.paths.contains(&path) {
                waiting_requests.paths.push(path);
            }
        }
    }

    /// Returns all waiting requests and removes them.
    pub fn take(&self) -> StartRequest {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The requests in a program's arguments. The first argument, the name of the program, is skipped. Relative paths are
/// relative to `folder`. File managers may pass `file://` URLs. Unknown options are ignored. After an argument `--`,
/// all arguments are paths.
pub fn parse_arguments(args: impl IntoIterator<Item = OsString>, folder: &Path) -> StartRequest {
    let mut only_paths = false;
    let mut requested = StartRequest::default();
    for arg in args.into_iter().skip(1) {
        let text = arg.to_str();
        if !only_paths && text == Some("--") {
            only_paths = true;
        } else if !only_paths && text == Some(DEMONSTRATION_OPTION) {
            requested.demonstration = true;
        } else if arg.is_empty() || (!only_paths && arg.as_encoded_bytes().starts_with(b"-")) {
            // The program starts despite an unknown option, because a newer version may define it.
        } else if let Some(address) = text.filter(|text| text.starts_with("file:")) {
            // A URL that names another computer has no local path. The text of the URL is then used as a path, which
            // does not exist and is reported as missing.
            let path = tauri::Url::parse(address).ok().and_then(|url| url.to_file_path().ok());
            requested.paths.push(path.unwrap_or_else(|| folder.join(&arg)));
        } else {
            requested.paths.push(folder.join(&arg));
        }
    }
    requested
}

/// The requests in the URLs that macOS sends. URLs that do not name a file of this computer are ignored.
#[cfg(any(target_os = "macos", test))]
pub fn parse_urls(urls: impl IntoIterator<Item = tauri::Url>) -> StartRequest {
    let paths = urls.into_iter().filter_map(|url| (url.scheme() == "file").then(|| url.to_file_path().ok()).flatten());
    StartRequest { paths: paths.collect(), demonstration: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(args: &[&str]) -> Vec<String> {
        let args = args.iter().map(OsString::from);
        parse_arguments(args, Path::new("/home/ines"))
            .paths
            .into_iter()
            .map(|path| path.display().to_string())
            .collect()
    }

    #[test]
    fn arguments_name_the_files_to_open() {
        assert_eq!(paths(&["mementory-app"]), [""; 0]);
        assert_eq!(paths(&["mementory-app", "a b.zip", "/tmp/c.mem"]), ["/home/ines/a b.zip", "/tmp/c.mem"]);
        assert_eq!(paths(&["mementory-app", "file:///tmp/caf%C3%A9%20%231.zip"]), ["/tmp/café #1.zip"]);
    }

    #[test]
    fn options_are_not_files_unless_they_follow_two_hyphens() {
        assert_eq!(paths(&["mementory-app", "--new", "-x", "", "a"]), ["/home/ines/a"]);
        assert_eq!(paths(&["mementory-app", "--", "-a.zip", "--"]), ["/home/ines/-a.zip", "/home/ines/--"]);
        assert_eq!(paths(&[]), [""; 0]);
    }

    #[test]
    fn the_action_of_the_desktop_entry_opens_the_demonstration() {
        let requests_demonstration =
            |args: [&str; 2]| parse_arguments(args.map(OsString::from), Path::new("/tmp")).demonstration;
        assert!(requests_demonstration(["mementory-app", "--demonstration"]));
        assert!(!requests_demonstration(["mementory-app", "demonstration"]));
        assert!(!requests_demonstration(["--demonstration", "a.zip"]));
    }

    #[test]
    fn a_url_of_another_computer_becomes_a_path_that_does_not_exist() {
        assert_eq!(paths(&["mementory-app", "file://elsewhere/a.zip"]), ["/home/ines/file://elsewhere/a.zip"]);
    }

    #[cfg(unix)]
    #[test]
    fn urls_of_macos_name_the_files_to_open() {
        let urls = ["file:///tmp/caf%C3%A9%20%231.mem", "https://example.org/a.mem", "file:///a.alf"];
        let requested = parse_urls(urls.iter().filter_map(|url| tauri::Url::parse(url).ok()));
        assert_eq!(requested.paths, [Path::new("/tmp/café #1.mem"), Path::new("/a.alf")]);
        assert!(!requested.demonstration);
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_not_unicode_is_passed_on_unchanged() {
        use std::os::unix::ffi::{OsStrExt, OsStringExt};
        let name = OsString::from_vec(b"caf\xe9.zip".to_vec());
        let paths = parse_arguments([OsString::from("mementory-app"), name], Path::new("/tmp")).paths;
        assert_eq!(paths.first().map(|path| path.as_os_str().as_bytes()), Some(&b"/tmp/caf\xe9.zip"[..]));
    }

    #[test]
    fn waiting_requests_are_taken_once_and_without_duplicates() {
        let requests = OpenRequests::default();
        let add = |paths: &[&str], demonstration| {
            requests.add(StartRequest { paths: paths.iter().map(PathBuf::from).collect(), demonstration });
        };
        add(&["/a", "/b", "/a"], true);
        add(&["/b", "/c"], false);
        let paths = vec!["/a".into(), "/b".into(), "/c".into()];
        assert_eq!(requests.take(), StartRequest { paths, demonstration: true });
        assert_eq!(requests.take(), StartRequest::default());
        let many = (0..MAX_WAITING + 5).map(|n| n.to_string().into()).collect();
        requests.add(StartRequest { paths: many, demonstration: false });
        assert_eq!(requests.take().paths.len(), MAX_WAITING);
    }
}
