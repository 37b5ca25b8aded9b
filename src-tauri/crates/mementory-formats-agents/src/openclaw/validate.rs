//! Checks that a workspace has readable text, safe file names, a valid agent id, and no unencrypted secrets.
use super::files::{self, FileRole};
use super::{Root, redact};
use mementory_format::{Catalog, Finding, FormatError, Member, Validation};
use mementory_model::Limits;

fn finding(code: &str, member: &Member, message: &str) -> Finding {
    Finding { code: code.into(), place: member.place.clone(), message: message.into() }
}

/// Validates all files of a workspace.
pub fn check_files(
    catalog: &Catalog,
    members: &[&Member],
    root: &Root,
    limits: &Limits,
    out: &mut Validation,
) -> Result<(), FormatError> {
    for member in members {
        let Some(path) = root.path(member) else { continue };
        if !files::is_safe(path) {
            out.errors.push(finding("unsafe_name", member, "unsafe file name: it leads outside the folder"));
        }
        let inner = path.strip_prefix("workspace/").unwrap_or(path);
        let role = files::role(inner);
        let is_text = matches!(role, FileRole::Profile(_) | FileRole::Memory(_) | FileRole::Settings)
            || path == files::AGENT_ID_FILE;
        if !is_text || member.size > limits.side_file_bytes {
            continue;
        }
        let bytes = catalog.bytes(member, limits.side_file_bytes)?;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            out.errors.push(finding("invalid_utf8", member, "not valid UTF-8"));
            continue;
        };
        match role {
            FileRole::Profile(_) => out.records += u64::from(!text.trim().is_empty()),
            FileRole::Memory(memory) if !text.trim().is_empty() => {
                out.records +=
                    if memory.is_one_record { 1 } else { super::sections::split_sections(text).len() as u64 };
            }
            FileRole::Settings if redact::has_secrets(text) => {
                out.warnings.push(finding(
                    "secret_in_the_clear",
                    member,
                    "this settings file holds a secret in the clear",
                ));
            }
            _ if path == files::AGENT_ID_FILE && !mementory_format::is_uuid(text.trim()) => {
                out.errors.push(finding("bad_value", member, "the agent's id is not a UUID"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Adds a warning if the workspace has no records.
pub fn warn_if_empty(out: &mut Validation) {
    if out.records == 0 && out.errors.is_empty() {
        let (code, message) =
            ("empty_workspace".to_owned(), "the workspace has neither an identity nor memories".to_owned());
        out.warnings.push(Finding { code, place: String::new(), message });
    }
}
