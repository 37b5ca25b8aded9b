//! Generates the TypeScript table of formats, which the window, its mock and the README use.
use crate::registry;
use mementory_format::Capabilities;
use std::fmt::Write;

const FILE_HEADER: &str = "// Generated from Rust by `npm run bindings`. Do not edit: a stale file fails the checks.\n\
     /** Every format with its capabilities, in the order in which detection asks them. */\n\
     export const FORMATS = [\n";

/// The text of `ui/src/lib/ipc/formats.ts`: one line for each format, as JSON.
pub fn typescript() -> String {
    let mut out = FILE_HEADER.to_owned();
    for format in registry() {
        let can = format.capabilities();
        let _ =
            write!(out, "  {{ \"id\": {:?}, \"name\": {:?}, \"ending\": {:?}", format.id(), format.name(), can.ending);
        for (name, is_set) in capability_flags(can) {
            let _ = write!(out, ", \"{name}\": {is_set}");
        }
        out.push_str(" },\n");
    }
    out.push_str("] as const;\n");
    out
}

fn capability_flags(can: Capabilities) -> [(&'static str, bool); 18] {
    [
        ("read", can.read),
        ("write", can.write),
        ("validate", can.validate),
        ("tombstones", can.tombstones),
        ("attachments", can.attachments),
        ("byteExact", can.byte_exact),
        ("folder", can.folder),
        ("signs", can.signs),
        ("encrypts", can.encrypts),
        ("needsPassphrase", can.needs_passphrase),
        ("text", can.text),
        ("passthrough", can.carries_passthrough),
        ("needsBase", can.needs_base),
        ("interchange", can.interchange),
        ("onlyIfChosen", can.only_if_chosen),
        ("recommended", can.recommended),
        ("accountExport", can.complete_account_export),
        ("forReading", can.for_reading),
    ]
}
