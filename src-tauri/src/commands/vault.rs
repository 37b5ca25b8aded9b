//! Vaults: create, open, lock, look after.
use crate::blocking::{Answer, blocking, heard, job, session};
use crate::state::AppState;
use mementory_api::types::*;
use mementory_api::{ApiError, CreateOptions, Job, Session, files};
use std::path::{Path, PathBuf};
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager};
use zeroize::Zeroizing;

/// What is open now.
#[tauri::command]
#[specta::specta]
pub async fn session_state(app: AppHandle) -> Answer<SessionState> {
    blocking(app, |state| Ok(state.session_state())).await
}

/// Vaults opened before.
#[tauri::command]
#[specta::specta]
pub async fn recent_vaults(app: AppHandle) -> Answer<Vec<RecentVault>> {
    blocking(app, |state| Ok(state.recent_vaults())).await
}

/// Take a vault off that list; the vault itself stays.
#[tauri::command]
#[specta::specta]
pub async fn forget_recent(app: AppHandle, path: String) -> Answer<()> {
    blocking(app, move |state| {
        state.settings().change(|settings| settings.forget(Path::new(&path)));
        Ok(())
    })
    .await
}

/// The backups of a vault that lie beside it, the newest first.
#[tauri::command]
#[specta::specta]
pub async fn backups_of(app: AppHandle, path: String) -> Answer<Vec<FoundBackup>> {
    blocking(app, move |_| Ok(files::backups_of(&absolute(&path)?))).await
}

/// The folder that a new vault is offered to live in.
#[tauri::command]
#[specta::specta]
pub async fn default_vault_folder(app: AppHandle) -> Answer<String> {
    let paths = app.path();
    let folder = paths.document_dir().or_else(|_| paths.home_dir()).unwrap_or_else(|_| PathBuf::from("/"));
    Ok(folder.display().to_string())
}

/// How strong a passphrase is, as it is typed.
#[tauri::command]
#[specta::specta]
pub async fn passphrase_strength(app: AppHandle, passphrase: String) -> Answer<PassphraseStrength> {
    let passphrase = Zeroizing::new(passphrase);
    blocking(app, move |_| Ok(files::passphrase_strength(&passphrase))).await
}

/// Four random words.
#[tauri::command]
#[specta::specta]
pub async fn suggest_passphrase(app: AppHandle) -> Answer<String> {
    blocking(app, |_| files::suggest_passphrase()).await
}

/// Create a vault and open it.
#[tauri::command]
#[specta::specta]
pub async fn create_vault(app: AppHandle, path: String, passphrase: String) -> Answer<Created> {
    let passphrase = Zeroizing::new(passphrase);
    blocking(app, move |state| {
        let path = absolute(&path)?;
        let (session, created) = Session::create(&path, &passphrase, CreateOptions::default())?;
        state.put_session(&path, session)?;
        Ok(created)
    })
    .await
}

/// Open a vault with its passphrase or its recovery code. Progress comes when its search index is made anew first.
#[tauri::command]
#[specta::specta]
pub async fn unlock(
    app: AppHandle,
    job_id: String,
    path: String,
    secret: String,
    on_progress: Channel<Progress>,
) -> Answer<SessionState> {
    let secret = Zeroizing::new(secret);
    let opened = blocking(app.clone(), move |state| {
        let path = absolute(&path)?;
        state.wait_for_lock();
        let job = heard(on_progress);
        let opening = state.jobs().start(&job_id, &job)?;
        let session = Session::open_watched(&path, &secret, &job)?;
        drop(opening);
        state.put_session(&path, session)
    })
    .await?;
    // Beside what the window loads now. What cannot be read is reported by the search that needs it.
    drop(tauri::async_runtime::spawn(async move {
        let _ = session(app, Session::warm_search).await;
    }));
    Ok(opened)
}

/// Lock. Jobs under way roll back first.
#[tauri::command]
#[specta::specta]
pub async fn lock(app: AppHandle) -> Answer<()> {
    blocking(app, |state| {
        state.lock();
        Ok(())
    })
    .await
}

/// Minutes without input before the vault locks itself; 0 = never.
#[tauri::command]
#[specta::specta]
pub async fn set_auto_lock(app: AppHandle, minutes: u32) -> Answer<()> {
    blocking(app, move |state| {
        state.set_auto_lock(minutes);
        Ok(())
    })
    .await
}

/// The person did something: the wait for the auto-lock starts again.
#[tauri::command]
#[specta::specta]
pub async fn touch(app: AppHandle) -> Answer<()> {
    app.state::<AppState>().touch();
    Ok(())
}

/// Change the passphrase; `secret` is the present one or the recovery code.
#[tauri::command]
#[specta::specta]
pub async fn change_passphrase(app: AppHandle, secret: String, new_passphrase: String) -> Answer<Slots> {
    let (secret, new_passphrase) = (Zeroizing::new(secret), Zeroizing::new(new_passphrase));
    session(app, move |vault| vault.change_passphrase(&secret, &new_passphrase)).await
}

/// Make a new recovery code; `secret` is the passphrase or the present code, which opens nothing from then on.
#[tauri::command]
#[specta::specta]
pub async fn new_recovery_code(app: AppHandle, secret: String) -> Answer<NewRecoveryCode> {
    let secret = Zeroizing::new(secret);
    session(app, move |vault| vault.new_recovery_code(&secret)).await
}

/// What opens the vault, and since when.
#[tauri::command]
#[specta::specta]
pub async fn key_slots(app: AppHandle) -> Answer<Slots> {
    session(app, |vault| Ok(vault.key_slots())).await
}

/// What is in the vault.
#[tauri::command]
#[specta::specta]
pub async fn vault_info(app: AppHandle) -> Answer<VaultInfo> {
    session(app, |vault| vault.info()).await
}

/// Integrity of the vault, place by place.
#[tauri::command]
#[specta::specta]
pub async fn check_vault(app: AppHandle, rebuild_index: bool) -> Answer<CheckReport> {
    session(app, move |vault| vault.check(rebuild_index, &Job::silent())).await
}

/// Copy the vault to a new folder and check the copy, which is a vault of its own.
#[tauri::command]
#[specta::specta]
pub async fn backup(app: AppHandle, job_id: String, out: String, on_progress: Channel<Progress>) -> Answer<BackedUp> {
    job(app, job_id, on_progress, move |vault, job| vault.backup(&absolute(&out)?, job)).await
}

/// The audit log; with `verify` its chain and signatures are checked.
#[tauri::command]
#[specta::specta]
pub async fn audit(app: AppHandle, verify: bool) -> Answer<AuditLog> {
    session(app, move |vault| vault.audit(verify)).await
}

/// The vault's own key, whom it trusts, and whose signatures it has seen.
#[tauri::command]
#[specta::specta]
pub async fn keys(app: AppHandle) -> Answer<Keys> {
    session(app, |vault| vault.keys()).await
}

/// Trust a public key.
#[tauri::command]
#[specta::specta]
pub async fn trust_key(app: AppHandle, key: String, name: Option<String>) -> Answer<Keys> {
    session(app, move |vault| vault.trust_key(&key, name.as_deref())).await
}

/// Forget a key.
#[tauri::command]
#[specta::specta]
pub async fn forget_key(app: AppHandle, key: String) -> Answer<Keys> {
    session(app, move |vault| vault.forget_key(&key)).await
}

/// A path as typed or chosen. Relative ones would depend on where the window was started from.
fn absolute(path: &str) -> Result<PathBuf, ApiError> {
    let path = PathBuf::from(path);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(ApiError::new("usage", 2, "Give the whole path of the folder, from the top.").with("path", path.display()))
    }
}
