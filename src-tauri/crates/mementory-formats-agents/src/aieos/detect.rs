//! Detects an AIEOS identity by the protocol's name and at least one member that only AIEOS has, or without the name by
//! at least three such members.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// Members that occur only in AIEOS identities.
const AIEOS_MEMBERS: [&str; 8] = [
    "identity.names",
    "psychology.neural_matrix",
    "psychology.traits",
    "psychology.moral_compass",
    "linguistics.text_style",
    "linguistics.idiolect",
    "motivations.core_drive",
    "capabilities.skills",
];

/// One claim for the files of each folder. An identity in an agent's workspace is claimed by the workspace format with
/// higher confidence.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.8, "an identity in AIEOS", layout)
}

fn layout(head: &Head) -> Option<&'static str> {
    let count = AIEOS_MEMBERS.iter().filter(|part| head.has(part)).count();
    let is_named = head.has("standard.protocol") && head.says("AIEOS");
    (!head.is_list && (count >= 3 || count >= 1 && is_named)).then_some("")
}
