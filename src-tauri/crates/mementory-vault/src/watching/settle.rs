//! When a file has stopped growing: it looks the same for a while. Time is handed in.
use crate::watching::{folder::FileFound, folder::Stamp};
use std::{collections::HashMap, time::Duration};

/// So long a file has to look the same.
pub const QUIET: Duration = Duration::from_secs(3);

/// Files that are new or changed, and since when they look as they do.
#[derive(Debug, Default)]
pub struct Settling {
    since: HashMap<(String, String), (Stamp, Duration)>,
}

impl Settling {
    /// Takes what is new or changed in a folder at `now`. Answers what has settled, and how long until the next of the
    /// others may have. What is not among `files` is not waited for any longer.
    pub fn settle(&mut self, folder: &str, files: Vec<FileFound>, now: Duration) -> (Vec<FileFound>, Option<Duration>) {
        let mut before = std::mem::take(&mut self.since);
        self.since.extend(before.extract_if(|(other, _), _| other != folder));
        let (mut settled, mut wait): (Vec<FileFound>, Option<Duration>) = (Vec::new(), None);
        for file in files {
            let key = (folder.to_owned(), file.name.clone());
            let since = match before.get(&key) {
                // A clock that was set back would let it wait for hours.
                Some((stamp, since)) if *stamp == file.stamp && *since <= now => *since,
                _ => now,
            };
            let left = (since + QUIET).saturating_sub(now);
            self.since.insert(key, (file.stamp, since));
            if left.is_zero() {
                settled.push(file);
            } else {
                wait = Some(wait.map_or(left, |least| least.min(left)));
            }
        }
        (settled, wait)
    }
}
