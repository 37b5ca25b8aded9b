//! Shows on the desktop how a job of the person proceeds: its progress on the launcher, and a notification if a long
//! job ends while the window is not in front. A notification states only what the job does and whether it succeeded.
use crate::desktop::Desktop;
use crate::state::AppState;
use mementory_api::types::Progress;
use mementory_api::{ApiError, ApiResult};
use std::time::{Duration, Instant};
use tauri::{AppHandle, Manager};

/// Only a job that took longer than this shows a notification.
const NOTIFY_AFTER: Duration = Duration::from_secs(10);
/// The preference and the value with which notifications are switched off.
const PREFERENCE: (&str, &str) = ("notifications", "off");
/// Environment variables that contain the person's language on Linux, in order of precedence. `LANGUAGE` may list
/// several languages, separated by colons.
const LANGUAGE_VARIABLES: [&str; 4] = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"];

/// The texts of all notifications by language and key, from the files in `ui/src/lib/text`. English is the first.
const TEXTS: &[(&str, &[(&str, &str)])] = include!(concat!(env!("OUT_DIR"), "/notification_texts.rs"));

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    Import,
    Export,
    Backup,
    Erasure,
    Redaction,
    /// Any other job. Its notification does not name the kind of job.
    Other,
}

impl JobKind {
    /// Keys of the texts in `ui/src/lib/text`: the first for a job that has succeeded, the second for a job that has
    /// failed.
    fn keys(self) -> (&'static str, &'static str) {
        match self {
            Self::Import => ("notify.import", "notify.importFailed"),
            Self::Export => ("notify.export", "notify.exportFailed"),
            Self::Backup => ("notify.backup", "notify.backupFailed"),
            Self::Erasure => ("notify.erasure", "notify.erasureFailed"),
            Self::Redaction => ("notify.redaction", "notify.redactionFailed"),
            Self::Other => ("notify.other", "notify.otherFailed"),
        }
    }
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Failed,
    /// The person cancelled the job, or the vault was locked.
    Cancelled,
}

impl Outcome {
    fn of(error: Option<&ApiError>) -> Self {
        match error {
            None => Self::Done,
            Some(error) if error.code == "cancelled" => Self::Cancelled,
            Some(_) => Self::Failed,
        }
    }
}

/// Shows a running job on the desktop. When the value is dropped, it shows the end of the job.
pub struct JobFeedback {
    app: AppHandle,
    kind: JobKind,
    started: Instant,
    outcome: Outcome,
}

impl JobFeedback {
    /// Must be called when the job begins.
    pub fn start(app: AppHandle, kind: JobKind) -> Self {
        app.state::<Desktop>().job_started();
        // If the job panics, `finish` is not called, and the outcome stays `Failed`.
        Self { app, kind, started: Instant::now(), outcome: Outcome::Failed }
    }

    /// Shows progress on the launcher.
    pub fn progress(&self) -> impl Fn(&Progress) + Send + Sync + use<> {
        let (app, started) = (self.app.clone(), self.started);
        move |progress: &Progress| {
            app.state::<Desktop>().job_progressed(started.elapsed(), progress.done, progress.total);
        }
    }

    /// Must be called with the result of the job.
    pub fn finish<T>(mut self, result: &ApiResult<T>) {
        self.outcome = Outcome::of(result.as_ref().err());
    }

    fn notification(&self) -> Option<&'static str> {
        let (key, key_failed) = self.kind.keys();
        let key = match self.outcome {
            Outcome::Done => key,
            Outcome::Failed => key_failed,
            Outcome::Cancelled => return None,
        };
        if !is_long(self.started.elapsed()) {
            return None;
        }
        let state = self.app.state::<AppState>();
        let preferences = state.settings().get().preferences.clone();
        if preferences.get(PREFERENCE.0).is_some_and(|value| value == PREFERENCE.1) || is_in_front(&self.app) {
            return None;
        }
        let variable = |name: &str| std::env::var(name).ok();
        text_in(language(preferences.get("language").map(String::as_str), variable), key)
    }
}

impl Drop for JobFeedback {
    fn drop(&mut self) {
        let desktop = self.app.state::<Desktop>();
        desktop.job_ended();
        if let Some(text) = self.notification() {
            desktop.notify(text);
        }
    }
}

fn is_long(elapsed: Duration) -> bool {
    elapsed > NOTIFY_AFTER
}

/// True if a window of the program is in front. A window whose state cannot be read counts too, because it is closing.
fn is_in_front(app: &AppHandle) -> bool {
    app.webview_windows().values().any(|window| window.is_focused().unwrap_or(true))
}

/// The language of notifications: the language that was chosen in the window, otherwise the first language of the
/// system for which there are texts, otherwise English.
fn language(chosen: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> &'static str {
    let known_language = |name: &str| TEXTS.iter().map(|(language, _)| *language).find(|language| *language == name);
    // `de_DE.UTF-8`, `de-DE` and `de` all mean German.
    let base = |tag: &str| tag.split(['_', '-', '.', '@']).next().and_then(known_language);
    chosen
        .and_then(known_language)
        .or_else(|| {
            let set = LANGUAGE_VARIABLES.into_iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
            set.and_then(|value| value.split(':').find_map(base))
        })
        .unwrap_or(TEXTS[0].0)
}

fn text_in(language: &str, key: &str) -> Option<&'static str> {
    let (_, texts) = TEXTS.iter().find(|(known, _)| *known == language)?;
    texts.iter().find(|(known, _)| *known == key).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [JobKind; 6] =
        [JobKind::Import, JobKind::Export, JobKind::Backup, JobKind::Erasure, JobKind::Redaction, JobKind::Other];

    #[test]
    fn every_kind_has_its_own_fixed_texts_in_every_language() {
        assert_eq!(TEXTS.iter().map(|(language, _)| *language).collect::<Vec<_>>(), ["en", "de", "ja"]);
        for (language, texts) in TEXTS {
            let keys = KINDS.into_iter().flat_map(|kind| [kind.keys().0, kind.keys().1]);
            let found: std::collections::BTreeSet<&str> = keys.filter_map(|key| text_in(language, key)).collect();
            assert_eq!((found.len(), texts.len()), (2 * KINDS.len(), 2 * KINDS.len()), "{language}");
            assert!(found.iter().all(|text| !text.contains(['{', '['])), "{language}: a text with a gap for content");
        }
        assert_eq!(text_in("en", "notify.import"), Some("The import has ended"));
    }

    #[test]
    fn a_cancelled_job_and_a_short_one_are_not_announced() {
        let error = |code| ApiError::new(code, 1, "words from the vault");
        assert_eq!(Outcome::of(None), Outcome::Done);
        assert_eq!(Outcome::of(Some(&error("cancelled"))), Outcome::Cancelled);
        assert_eq!(Outcome::of(Some(&error("io"))), Outcome::Failed);
        assert!(!is_long(Duration::from_secs(10)) && is_long(Duration::from_millis(10_001)));
    }

    #[test]
    fn the_language_is_the_chosen_one_or_that_of_the_system() {
        for (chosen, variables, expected) in [
            (Some("ja"), &[("LANG", "de_DE.UTF-8")][..], "ja"),
            (None, &[("LANG", "de_DE.UTF-8")], "de"),
            (None, &[("LANG", "de_DE.UTF-8"), ("LC_ALL", "ja_JP")], "ja"),
            (None, &[("LANG", "de_DE.UTF-8"), ("LANGUAGE", "pt_BR:ja:en")], "ja"),
            (None, &[("LANG", "de"), ("LANGUAGE", "")], "de"),
            (None, &[("LANG", "C.UTF-8")], "en"),
            (Some("tlh"), &[("LANG", "de@euro")], "de"),
            (None, &[], "en"),
        ] {
            let variable =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned());
            assert_eq!(language(chosen, variable), expected, "{chosen:?} {variables:?}");
        }
    }
}
