//! Eventloom logs, the source of Zaxy exports: each line is an event with its hash and the hash of the previous event.
//! Logs can be read and validated but not written. See README.md.
mod detect;
mod read;

use crate::zaxy::log_event::LOG_FORMAT;
use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, Member, ReadContext, Role, Sink, Validation,
};
use mementory_model::Limits;

/// The format of Eventloom logs.
pub struct Eventloom;

impl Format for Eventloom {
    fn id(&self) -> &'static str {
        LOG_FORMAT
    }
    fn name(&self) -> &'static str {
        "Eventloom log"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, validate: true, interchange: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, limits)
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(catalog, log_member(catalog, detected)?, &context.limits, sink)
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        trust: &[String],
    ) -> Result<Validation, FormatError> {
        read::validate(catalog, log_member(catalog, detected)?, limits, trust)
    }
}

fn log_member<'c>(catalog: &'c Catalog, detected: &Detected) -> Result<&'c Member, FormatError> {
    let part = detected.claim.parts.iter().find(|p| p.role == Role::Records);
    let member = part.and_then(|p| catalog.members().get(p.member));
    member.ok_or_else(|| FormatError::invalid("malformed", detected.format, "there is no log"))
}
