//! Vaults: create, open, lock, maintain.
use crate::blocking::{
    CommandResult, job_reporting_to, run_blocking, run_change, run_change_job, run_in_session, run_until_locked,
    send_warnings,
};
use crate::job_feedback::JobKind;
use crate::state::AppState;
use mementory_api::types::*;
use mementory_api::{ApiError, CreateOptions, Job, Session, files};
use std::path::{Path, PathBuf};
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager};
use zeroize::Zeroizing;

/// Which vault is open now.
#[tauri::command]
#[specta::specta]
pub async fn session_state(app: AppHandle) -> CommandResult<SessionState> {
    run_blocking(app, |state| Ok(state.session_state())).await
}

/// Vaults opened before.
#[tauri::command]
#[specta::specta]
pub async fn recent_vaults(app: AppHandle) -> CommandResult<Vec<RecentVault>> {
    run_blocking(app, |state| Ok(state.recent_vaults())).await
}

/// Remove a vault from the list of recent vaults; the vault itself is not changed.
#[tauri::command]
#[specta::specta]
pub async fn forget_recent(app: AppHandle, path: String) -> CommandResult<()> {
    run_blocking(app, move |state| {
        state.settings().change(|settings| settings.forget(Path::new(&path)));
        Ok(())
    })
    .await
}

/// The backups in the same folder as a vault, newest first.
#[tauri::command]
#[specta::specta]
pub async fn backups_of(app: AppHandle, path: String) -> CommandResult<Vec<FoundBackup>> {
    run_blocking(app, move |_| Ok(files::backups_of(&require_absolute(&path)?))).await
}

/// A file that exists only inside the sandbox of a Flatpak.
const FLATPAK_MARKER: &str = "/.flatpak-info";

/// The suggested folder for a new vault.
#[tauri::command]
#[specta::specta]
pub async fn default_vault_folder(app: AppHandle) -> CommandResult<String> {
    let paths = app.path();
    let folder = if Path::new(FLATPAK_MARKER).exists() {
        // In a Flatpak, files in other places of the home folder are deleted when the program ends. If the folder
        // cannot be created, creating the vault in it fails with a message.
        paths.app_data_dir().inspect(|folder| drop(std::fs::create_dir_all(folder)))
    } else {
        paths.document_dir()
    };
    let folder = folder.or_else(|_| paths.home_dir()).unwrap_or_else(|_| PathBuf::from("/"));
    Ok(folder.display().to_string())
}

/// The strength of a passphrase that is being typed.
#[tauri::command]
#[specta::specta]
pub async fn passphrase_strength(app: AppHandle, passphrase: String) -> CommandResult<PassphraseStrength> {
    let passphrase = Zeroizing::new(passphrase);
    run_blocking(app, move |_| Ok(files::passphrase_strength(&passphrase))).await
}

/// Four random words.
#[tauri::command]
#[specta::specta]
pub async fn suggest_passphrase(app: AppHandle) -> CommandResult<String> {
    run_blocking(app, |_| files::suggest_passphrase()).await
}

/// Create a vault and open it.
#[tauri::command]
#[specta::specta]
pub async fn create_vault(app: AppHandle, path: String, passphrase: String) -> CommandResult<Created> {
    let passphrase = Zeroizing::new(passphrase);
    let window = app.clone();
    let created = run_blocking(app, move |state| {
        let path = require_absolute(&path)?;
        let (session, created) = Session::create(&path, &passphrase, CreateOptions::default())?;
        session.apply_erasures(files::ledger_folder().as_deref(), &Job::silent());
        state.set_open_vault(&path, session)?;
        Ok(created)
    })
    .await;
    created.map(|created| send_warnings(&window, created))
}

/// Open a vault with its passphrase or its recovery code. Reports progress if its search index has to be rebuilt first.
#[tauri::command]
#[specta::specta]
pub async fn unlock(
    app: AppHandle,
    job_id: String,
    path: String,
    secret: String,
    on_progress: Channel<Progress>,
) -> CommandResult<SessionState> {
    let secret = Zeroizing::new(secret);
    let opened = run_blocking(app.clone(), move |state| {
        let path = require_absolute(&path)?;
        state.wait_for_lock();
        let job = job_reporting_to(on_progress);
        let opening = state.jobs().start(&job_id, &job)?;
        let session = Session::open_watched(&path, &secret, files::ledger_folder().as_deref(), &job)?;
        drop(opening);
        state.set_open_vault(&path, session)
    })
    .await?;
    // Reads the search index into memory while the window loads its first data. Errors are ignored, because the first
    // search reports them.
    drop(tauri::async_runtime::spawn(async move {
        let _ = run_in_session(app, |session| session.search().warm()).await;
    }));
    Ok(opened)
}

/// Open the demonstration vault of this computer, or create it if there is none. If it cannot be used, it is deleted
/// and created again, provided that `remake` is true.
#[tauri::command]
#[specta::specta]
pub async fn open_demonstration(app: AppHandle, remake: bool) -> CommandResult<SessionState> {
    let folder = app.path().app_data_dir();
    run_blocking(app, move |state| {
        let folder =
            folder.map_err(|_| ApiError::io("This system has no folder for data of programs. Nothing was created."))?;
        let path = folder.join("Demonstration.mementory");
        state.wait_for_lock();
        let session = Session::open_demonstration(&path, remake, &Job::silent())?;
        state.set_open_vault(&path, session)
    })
    .await
}

/// Delete the open demonstration vault. If the person added something to it, it is only deleted if `with_own_content`
/// is true.
#[tauri::command]
#[specta::specta]
pub async fn delete_demonstration(app: AppHandle, with_own_content: bool) -> CommandResult<()> {
    run_blocking(app, move |state| state.delete_demonstration(with_own_content)).await
}

/// Lock the vault. Running jobs are rolled back first.
#[tauri::command]
#[specta::specta]
pub async fn lock(app: AppHandle) -> CommandResult<()> {
    run_blocking(app, |state| {
        state.lock();
        Ok(())
    })
    .await
}

/// Set the number of minutes without input after which the vault locks automatically; 0 = never.
#[tauri::command]
#[specta::specta]
pub async fn set_auto_lock(app: AppHandle, minutes: u32) -> CommandResult<()> {
    run_blocking(app, move |state| {
        state.set_auto_lock(minutes);
        Ok(())
    })
    .await
}

/// Record that the person gave input, which restarts the wait for the automatic lock.
#[tauri::command]
#[specta::specta]
pub async fn record_input(app: AppHandle) -> CommandResult<()> {
    app.state::<AppState>().record_input();
    Ok(())
}

/// Change the passphrase; `secret` is the current passphrase or the recovery code.
#[tauri::command]
#[specta::specta]
pub async fn change_passphrase(app: AppHandle, secret: String, new_passphrase: String) -> CommandResult<Slots> {
    let (secret, new_passphrase) = (Zeroizing::new(secret), Zeroizing::new(new_passphrase));
    run_change(app, move |vault| vault.change_passphrase(&secret, &new_passphrase)).await
}

/// Make a new recovery code; `secret` is the passphrase or the current code. The old code stops working.
#[tauri::command]
#[specta::specta]
pub async fn new_recovery_code(app: AppHandle, secret: String) -> CommandResult<NewRecoveryCode> {
    let secret = Zeroizing::new(secret);
    run_change(app, move |vault| vault.new_recovery_code(&secret)).await
}

/// The key slots of the vault: what opens it, and since when.
#[tauri::command]
#[specta::specta]
pub async fn key_slots(app: AppHandle) -> CommandResult<Slots> {
    run_in_session(app, |vault| Ok(vault.key_slots())).await
}

/// Contents of the vault in numbers.
#[tauri::command]
#[specta::specta]
pub async fn vault_info(app: AppHandle) -> CommandResult<VaultInfo> {
    run_in_session(app, |vault| vault.overview().info()).await
}

/// Check the integrity of every part of the vault.
#[tauri::command]
#[specta::specta]
pub async fn check_vault(app: AppHandle, rebuild_index: bool) -> CommandResult<CheckReport> {
    run_until_locked(app, move |vault, job| vault.overview().check(rebuild_index, job)).await
}

/// Copy the vault to a new folder and check the copy, which is a separate vault.
#[tauri::command]
#[specta::specta]
pub async fn backup(
    app: AppHandle,
    job_id: String,
    out: String,
    on_progress: Channel<Progress>,
) -> CommandResult<WrittenBackup> {
    run_change_job(app, JobKind::Backup, job_id, on_progress, move |vault, job| {
        vault.backups().create(&require_absolute(&out)?, job)
    })
    .await
}

/// The audit log; with `verify` its chain and signatures are checked.
#[tauri::command]
#[specta::specta]
pub async fn audit(app: AppHandle, verify: bool) -> CommandResult<AuditLog> {
    run_in_session(app, move |vault| vault.overview().audit(verify)).await
}

/// The signing key of the vault, the trusted keys, and the keys seen on imported files.
#[tauri::command]
#[specta::specta]
pub async fn keys(app: AppHandle) -> CommandResult<Keys> {
    run_in_session(app, |vault| vault.keys().list()).await
}

/// Trust a public key.
#[tauri::command]
#[specta::specta]
pub async fn trust_key(app: AppHandle, key: String, name: Option<String>) -> CommandResult<Keys> {
    run_in_session(app, move |vault| vault.keys().trust(&key, name.as_deref())).await
}

/// Forget a key.
#[tauri::command]
#[specta::specta]
pub async fn forget_key(app: AppHandle, key: String) -> CommandResult<Keys> {
    run_in_session(app, move |vault| vault.keys().forget(&key)).await
}

/// Checks that a path is absolute. A relative path would depend on the folder in which the program was started.
fn require_absolute(path: &str) -> Result<PathBuf, ApiError> {
    let path = PathBuf::from(path);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(ApiError::usage(
            "This path is not absolute. Nothing was changed. Give the whole path of the folder, starting at the root.",
        )
        .with("path", path.display()))
    }
}
