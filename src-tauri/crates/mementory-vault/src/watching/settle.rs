//! Detects that a file has stopped growing: its size and modification time have not changed for a while. The caller
//! passes the time.
use crate::watching::{folder::CandidateFile, folder::FileStamp};
use std::{collections::HashMap, time::Duration};

/// How long the stamp of a file has to stay the same until the file counts as settled.
pub const QUIET_PERIOD: Duration = Duration::from_secs(3);

/// Files that are new or changed, and the time since which their stamp has not changed.
#[derive(Debug, Default)]
pub struct UnsettledFiles {
    since: HashMap<(String, String), (FileStamp, Duration)>,
}

impl UnsettledFiles {
    /// Checks the new or changed files of a folder at `now`. Returns the files that have settled, and the time until
    /// another file can settle. Files that are not in `files` are forgotten.
    pub fn settle(
        &mut self,
        folder: &str,
        files: Vec<CandidateFile>,
        now: Duration,
    ) -> (Vec<CandidateFile>, Option<Duration>) {
        let mut previous_stamps = std::mem::take(&mut self.since);
        self.since.extend(previous_stamps.extract_if(|(other, _), _| other != folder));
        let (mut settled, mut wait): (Vec<CandidateFile>, Option<Duration>) = (Vec::new(), None);
        for file in files {
            let key = (folder.to_owned(), file.name.clone());
            let since = match previous_stamps.get(&key) {
                // A time later than `now` means that the clock was set back. The wait then starts again, since the file
                // could otherwise wait for hours.
                Some((stamp, since)) if *stamp == file.stamp && *since <= now => *since,
                _ => now,
            };
            let time_left = (since + QUIET_PERIOD).saturating_sub(now);
            self.since.insert(key, (file.stamp, since));
            if time_left.is_zero() {
                settled.push(file);
            } else {
                wait = Some(wait.map_or(time_left, |least| least.min(time_left)));
            }
        }
        (settled, wait)
    }
}
