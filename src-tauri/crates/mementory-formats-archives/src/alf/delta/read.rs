//! Imports a delta. Its records get the same keys as the records in the agent's `.alf`.
use super::super::manifest::Archive;
use super::super::read::Reader;
use super::manifest::DeltaManifest;
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_model::Issue;

/// Reads one delta bundle into the sink.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let archive = Archive::open_any(catalog, detected)?;
    let delta = DeltaManifest::read(&archive, &context.limits)?;
    let message = format!("changes since sequence {} of agent {}, up to {}", delta.base, delta.agent, delta.new);
    sink.note(Issue::new("delta_of_a_base", &archive.place, message));
    let manifest = delta.as_archive();
    Reader::of_delta(&archive, &manifest, &context.limits, sink).run()
}
