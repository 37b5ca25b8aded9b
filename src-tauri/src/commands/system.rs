//! System functions (file dialogs, browser, file manager, printer, clipboard), and the settings of the window.
use crate::blocking::{CommandResult, run_blocking};
use crate::desktop::{Desktop, SystemStyle};
use crate::open_requests::OpenRequests;
use crate::session_lock::SessionWatcher;
use crate::window::{CAN_HIDE_FROM_CAPTURE, guards};
use mementory_api::types::{OpenRequest, WindowGuards};
use mementory_api::{ApiError, ApiResult, files};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tauri::{AppHandle, Manager, WebviewWindow};
use tauri_plugin_dialog::{DialogExt, FileDialogBuilder, FilePath};
use tauri_plugin_opener::OpenerExt;
use zeroize::Zeroizing;

/// Schemes of links that may be opened.
const LINK_SCHEMES: [&str; 3] = ["https", "http", "mailto"];

/// The files and folders, or the demonstration, that the system asked this program to open since the last call.
#[tauri::command]
#[specta::specta]
pub async fn take_open_requests(app: AppHandle) -> CommandResult<OpenRequest> {
    let requested = app.state::<OpenRequests>().take();
    run_blocking(app, move |_| {
        let sorted_paths = files::sort_opened(&requested.paths);
        Ok(OpenRequest { demonstration: requested.demonstration, ..sorted_paths })
    })
    .await
}

/// Ask for files to import. Empty if the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn choose_files(app: AppHandle, window: WebviewWindow) -> CommandResult<Vec<String>> {
    let dialog = app.dialog().file().set_parent(&window);
    run_blocking(app, move |_| {
        let chosen_files = dialog.blocking_pick_files().unwrap_or_default();
        chosen_files.into_iter().filter_map(|path| path_text(Some(path)).transpose()).collect()
    })
    .await
}

/// Ask for a folder.
#[tauri::command]
#[specta::specta]
pub async fn choose_folder(app: AppHandle, window: WebviewWindow) -> CommandResult<Option<String>> {
    let dialog = app.dialog().file().set_parent(&window);
    ask_for_path(app, move || dialog.blocking_pick_folder()).await
}

/// Ask for a vault, which is a folder.
#[tauri::command]
#[specta::specta]
pub async fn choose_vault(app: AppHandle, window: WebviewWindow) -> CommandResult<Option<String>> {
    let dialog = app.dialog().file().set_parent(&window);
    ask_for_path(app, move || {
        let chosen_folder = dialog.blocking_pick_folder()?.into_path().ok()?;
        // Returns the real path, because the window compares it with the path of the open vault.
        Some(files::real_path(&chosen_folder).into())
    })
    .await
}

/// Ask for the path to which a file is to be saved.
#[tauri::command]
#[specta::specta]
pub async fn choose_save(
    app: AppHandle,
    window: WebviewWindow,
    suggested_name: String,
) -> CommandResult<Option<String>> {
    let dialog = save_dialog(&app, &window, &suggested_name);
    ask_for_path(app, move || dialog.blocking_save_file()).await
}

/// Ask where to save a text, and save it so that only the person can read it. Null if the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn save_text(
    app: AppHandle,
    window: WebviewWindow,
    suggested_name: String,
    text: String,
) -> CommandResult<Option<String>> {
    let dialog = save_dialog(&app, &window, &suggested_name);
    run_blocking(app, move |_| {
        let Some(path) = path_text(dialog.blocking_save_file())? else {
            return Ok(None);
        };
        write_private(Path::new(&path), text.as_bytes()).map_err(|error| {
            ApiError::io(format!(
                "The file could not be saved: {error}. An existing file was left as it was. Choose another place."
            ))
            .with("path", &path)
        })?;
        Ok(Some(path))
    })
    .await
}

/// Open a link in the browser, after the person confirmed it.
#[tauri::command]
#[specta::specta]
pub async fn open_link(app: AppHandle, url: String) -> CommandResult<()> {
    let opener = app.clone();
    run_blocking(app, move |_| {
        let url = checked_link(&url)?;
        opener.opener().open_url(url, None::<&str>).map_err(|error| open_error(&error))
    })
    .await
}

/// Show a file in the file manager.
#[tauri::command]
#[specta::specta]
pub async fn show_in_folder(app: AppHandle, path: String) -> CommandResult<()> {
    let opener = app.clone();
    run_blocking(app, move |_| {
        opener.opener().reveal_item_in_dir(PathBuf::from(path)).map_err(|error| open_error(&error))
    })
    .await
}

/// Print the print area of the window.
#[tauri::command]
#[specta::specta]
pub async fn print(window: WebviewWindow) -> CommandResult<()> {
    window.print().map_err(|error| {
        ApiError::io(format!("Printing failed: {error}. Nothing was printed. Try again, or save it as a file.")).body()
    })
}

/// Copy a text. If a number of seconds is given, the text is cleared after that time, unless the clipboard contains
/// something else by then.
#[tauri::command]
#[specta::specta]
pub async fn copy_text(app: AppHandle, text: String, clear_after_seconds: Option<u32>) -> CommandResult<()> {
    let text = Zeroizing::new(text);
    run_blocking(app, move |state| {
        let clear_after = clear_after_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        state.clipboard().copy(text, clear_after)
    })
    .await
}

/// The text on the clipboard, for pasting into a field; null if the clipboard contains no text.
#[tauri::command]
#[specta::specta]
pub async fn clipboard_text(app: AppHandle) -> CommandResult<Option<String>> {
    run_blocking(app, |state| Ok(state.clipboard().read()?.map(|text| text.to_string()))).await
}

/// Set a preference of the window (appearance and behaviour, never content), or remove it with null.
#[tauri::command]
#[specta::specta]
pub async fn set_preference(app: AppHandle, name: String, value: Option<String>) -> CommandResult<()> {
    run_blocking(app, move |state| {
        if state.settings().change(|settings| settings.set_preference(&name, value)) {
            Ok(())
        } else {
            Err(ApiError::usage("This preference does not exist, or its value is too long. Nothing was changed.")
                .with("name", name))
        }
    })
    .await
}

/// Set whether opened vaults are remembered (path only). Switching this off forgets all of them.
#[tauri::command]
#[specta::specta]
pub async fn set_remember_vaults(app: AppHandle, remember: bool) -> CommandResult<()> {
    run_blocking(app, move |state| {
        state.settings().change(|settings| settings.set_remember_vaults(remember));
        Ok(())
    })
    .await
}

/// What protects the window besides the passphrase. Needs no vault.
#[tauri::command]
#[specta::specta]
pub async fn window_guards(app: AppHandle) -> CommandResult<WindowGuards> {
    let window = app.clone();
    run_blocking(app, move |_| Ok(guards(&window))).await
}

/// The accent colour of the desktop.
#[tauri::command]
#[specta::specta]
pub async fn system_style(app: AppHandle) -> CommandResult<SystemStyle> {
    let window = app.clone();
    run_blocking(app, move |_| Ok(window.state::<Desktop>().style())).await
}

/// Set whether the vault locks when the screen locks or the computer sleeps.
#[tauri::command]
#[specta::specta]
pub async fn set_lock_when_away(app: AppHandle, on: bool) -> CommandResult<()> {
    let window = app.clone();
    run_blocking(app, move |state| {
        state.set_lock_with_session(on);
        window.state::<SessionWatcher>().setting_changed();
        Ok(())
    })
    .await
}

/// Set whether the window is kept out of screenshots and screen sharing. Fails with `usage` if the system does not
/// support this.
#[tauri::command]
#[specta::specta]
pub async fn set_hide_from_capture(app: AppHandle, window: WebviewWindow, on: bool) -> CommandResult<()> {
    run_blocking(app, move |state| {
        if !CAN_HIDE_FROM_CAPTURE {
            let message = "This system cannot hide a window from screenshots. The setting was not changed.";
            return Err(ApiError::usage(message));
        }
        window.set_content_protected(on).map_err(|error| {
            let message = format!("The window could not be hidden or shown: {error}. The setting was not changed.");
            ApiError::io(message)
        })?;
        state.settings().change(|settings| settings.hide_from_capture = on);
        Ok(())
    })
    .await
}

type FileDialog = FileDialogBuilder<tauri::Wry>;

fn save_dialog(app: &AppHandle, window: &WebviewWindow, suggested_name: &str) -> FileDialog {
    app.dialog().file().set_parent(window).set_file_name(suggested_name)
}

/// Maximum length of a suggested file name, in characters.
const MAX_NAME_CHARS: usize = 80;
/// Maximum length of a suggested file name, in bytes. Together with an extension of 16 characters and a number, the
/// name stays below the 255 bytes that file systems allow.
const MAX_NAME_BYTES: usize = 180;

/// Makes a safe file name from an untrusted name: a single path component without hidden or misleading characters.
pub(super) fn file_name(original_name: &str) -> String {
    let is_direction_mark = |character: char| matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_forbidden = |character: char| r#"/\:*?"<>|"#.contains(character);
    let clean: String = original_name
        .chars()
        .filter(|character| !is_direction_mark(*character))
        .map(|character| if character.is_control() || is_forbidden(character) { '_' } else { character })
        .collect();
    // A leading dot would hide the file, and some systems drop trailing dots and spaces.
    let clean = clean.trim_matches(|character: char| character == '.' || character.is_whitespace());
    let (stem, ending) = match clean.rsplit_once('.') {
        Some((stem, ending)) if ending.chars().count() <= 16 => (stem, format!(".{ending}")),
        _ => (clean, String::new()),
    };
    let is_within_limit = |(at, character): &(usize, char)| at + character.len_utf8() <= MAX_NAME_BYTES;
    let stem: String =
        stem.char_indices().take(MAX_NAME_CHARS).take_while(is_within_limit).map(|(_, character)| character).collect();
    if stem.is_empty() { "file".into() } else { stem + &ending }
}

async fn ask_for_path(
    app: AppHandle,
    ask: impl FnOnce() -> Option<FilePath> + Send + 'static,
) -> CommandResult<Option<String>> {
    run_blocking(app, move |_| path_text(ask())).await
}

/// The text of a chosen path; None if the dialog was cancelled.
fn path_text(path: Option<FilePath>) -> ApiResult<Option<String>> {
    path.and_then(|path| path.into_path().ok()).map(|path| files::path_text(&path)).transpose()
}

fn open_error(error: &tauri_plugin_opener::Error) -> ApiError {
    ApiError::io(format!("It could not be opened: {error}. Nothing was changed."))
}

/// Checks a link. Fails with `refused_input` for schemes that could start a program or read a file.
fn checked_link(url: &str) -> ApiResult<String> {
    let refusal =
        || ApiError::new("refused_input", 6, "Only web and mail addresses can be opened. This link was not opened.");
    let url = tauri::Url::parse(url).map_err(|_| refusal())?;
    if LINK_SCHEMES.contains(&url.scheme()) { Ok(url.into()) } else { Err(refusal()) }
}

/// Writes a file that only the person can read, by writing a temporary file next to the target and renaming it.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // tempfile creates files with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_web_and_mail_addresses_open() {
        assert_eq!(checked_link("https://example.org/a?b=c").unwrap(), "https://example.org/a?b=c");
        assert!(checked_link("mailto:a@example.org").is_ok());
        for url in ["file:///etc/passwd", "javascript:alert(1)", "mementory://x", "/etc/passwd", "", "smb://host/x"] {
            assert_eq!(checked_link(url).unwrap_err().code, "refused_input", "{url}");
        }
    }

    #[test]
    fn a_suggested_file_name_is_one_safe_component() {
        for (original_name, suggested) in [
            ("tide table.csv", "tide table.csv"),
            ("../../.bashrc", "_.._.bashrc"),
            ("/etc/passwd", "_etc_passwd"),
            (r"C:\boot.ini", "C__boot.ini"),
            ("pay\u{202e}fdp.exe", "payfdp.exe"),
            ("two\nlines\0.txt", "two_lines_.txt"),
            (" ..hidden. ", "hidden"),
            ("...", "file"),
            ("", "file"),
        ] {
            assert_eq!(file_name(original_name), suggested, "{original_name:?}");
        }
        let long = file_name(&("\u{20ac}".repeat(400) + ".docx"));
        assert!(long.ends_with("\u{20ac}.docx") && long.len() <= 255, "{}", long.len());
        for ending in ["", ".docx", &format!(".{}", "\u{1f30a}".repeat(16))] {
            let long = file_name(&("\u{1f30a}".repeat(300) + ending));
            assert!(long.ends_with(&format!("\u{1f30a}{ending}")) && long.len() <= 250, "{}", long.len());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_saved_text_is_readable_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("code.txt");
        write_private(&path, b"words").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"words");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
