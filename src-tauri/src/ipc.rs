//! The commands and types of the window, and the TypeScript generated from them.
use crate::commands::{agents, deletion, export, import, records, review, system, vault, watching};
use specta_typescript::Typescript;
use tauri_specta::{Builder, collect_commands};

const BINDINGS_HEADER: &str =
    "// Generated from Rust by `npm run bindings`. Do not edit: a stale file fails the checks.\n/* eslint-disable */";

/// All commands of the window.
pub fn builder() -> Builder<tauri::Wry> {
    Builder::new().disable_serde_phases().commands(collect_commands![
        vault::session_state,
        vault::recent_vaults,
        vault::forget_recent,
        vault::backups_of,
        vault::default_vault_folder,
        vault::passphrase_strength,
        vault::suggest_passphrase,
        vault::create_vault,
        vault::unlock,
        vault::open_demonstration,
        vault::delete_demonstration,
        vault::lock,
        vault::set_auto_lock,
        vault::record_input,
        vault::change_passphrase,
        vault::new_recovery_code,
        vault::key_slots,
        vault::vault_info,
        vault::check_vault,
        vault::backup,
        vault::audit,
        vault::keys,
        vault::trust_key,
        vault::forget_key,
        import::formats,
        import::detect,
        import::path_info,
        import::check_file,
        import::import_preview,
        import::import_run,
        import::cancel_job,
        import::imports,
        import::failed_imports,
        import::import_report,
        import::undo_import,
        watching::watched,
        watching::watch_folder,
        watching::unwatch_folder,
        watching::set_watching,
        watching::dismiss_detected_file,
        agents::agents,
        agents::connect_preview,
        agents::connect_client,
        agents::disconnect_preview,
        agents::disconnect_client,
        agents::stop_client,
        agents::set_answer_clients,
        agents::first_reads_seen,
        agents::client_calls,
        agents::suggestions,
        agents::decide_suggestions,
        records::list,
        records::facets,
        records::summary,
        records::show,
        records::thread,
        records::search,
        records::search_rows,
        records::suggest_query,
        records::similar,
        records::encode,
        records::attachment,
        records::save_attachment,
        records::print_page,
        records::save_page,
        records::add,
        records::edit,
        records::tag,
        records::restore_version,
        deletion::redact_preview,
        deletion::redact,
        deletion::trash,
        deletion::restore,
        deletion::erase_preview,
        deletion::erase,
        deletion::tombstones,
        deletion::receipt,
        deletion::retry_cleanup,
        review::scan_records,
        review::sensitive_queue,
        review::sensitive_value,
        review::redact_values,
        review::ignore_values,
        review::duplicates,
        review::keep_apart,
        review::merge,
        review::topics,
        review::people,
        review::timeline,
        review::contradictions,
        review::keep_both,
        review::resolve_contradiction,
        review::set_about,
        review::memory_evidence,
        review::review_next,
        review::review_answer,
        review::todo,
        review::write_report,
        export::export_preview,
        export::export_text,
        export::record_copied_text,
        export::evidence,
        export::export_run,
        export::remove_export,
        system::take_open_requests,
        system::choose_files,
        system::choose_folder,
        system::choose_vault,
        system::choose_save,
        system::save_text,
        system::open_link,
        system::show_in_folder,
        system::print,
        system::copy_text,
        system::clipboard_text,
        system::set_preference,
        system::set_remember_vaults,
        system::window_guards,
        system::system_style,
        system::set_lock_when_away,
        system::set_hide_from_capture,
    ])
}

/// The content of `ui/src/lib/ipc/bindings.ts`.
pub fn bindings() -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("bindings.ts");
    builder().export(Typescript::default().header(BINDINGS_HEADER), &path).map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    // A field with a default in Rust is optional in TypeScript. The window always sends all fields, so they are made
    // mandatory.
    Ok(text.replace("?: ", ": "))
}

/// The content of `ui/src/lib/ipc/formats.ts`; a test of the formats checks that the file is up to date.
pub fn formats() -> String {
    mementory_api::formats_typescript()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    #[test]
    fn the_committed_bindings_are_up_to_date() {
        let path = std::path::PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
            .join("../ui/src/lib/ipc/bindings.ts");
        let committed = std::fs::read_to_string(path).unwrap();
        assert!(committed == super::bindings().unwrap(), "bindings.ts is stale: run `npm run bindings`");
    }
}
