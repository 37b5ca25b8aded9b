//! Decodes the lines of a file in parallel, while more lines are read.
use super::{
    bundle::line_text,
    kinds::KindSpec,
    wire::{decode, line},
};
use mementory_format::{BatchPipeline, TextBatch};
use mementory_json::Tree;
use mementory_model::Bounds;
use std::thread::Scope;

/// The rules that a check applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckDepth {
    /// Only rules whose violation prevents an import.
    Import,
    /// All rules, including those about canonical form, conformance level and other claims of the manifest.
    Full,
}

/// A decoded line: the record, and true if the line is canonical. The error explains why the line is not a record.
pub(super) type Decoded = Result<(Tree, bool), String>;

/// Decodes the lines in order; blank lines are skipped.
fn decode_batch(batch: &TextBatch, spec: &KindSpec, depth: CheckDepth, bounds: Bounds) -> Vec<(u64, Decoded)> {
    batch.process(|number, bytes| {
        let tree = line_text(bytes)?.map_err(|()| "not UTF-8".to_owned()).and_then(|l| decode(spec, l, bounds));
        let decoded = tree.map(|tree| {
            let canonical = depth != CheckDepth::Full || is_canonical(spec, &tree, bytes);
            (tree, canonical)
        });
        Some((number, decoded))
    })
}

/// Decodes the lines of one file in a thread, while the next lines are read and hashed.
pub(super) fn start_decoder<'s>(
    scope: &'s Scope<'s, '_>,
    spec: &'static KindSpec,
    depth: CheckDepth,
    bounds: Bounds,
) -> BatchPipeline<(u64, Decoded)> {
    BatchPipeline::start(scope, move |batch| decode_batch(batch, spec, depth, bounds))
}

/// True if the line is in canonical form.
fn is_canonical(spec: &KindSpec, tree: &Tree, bytes: &[u8]) -> bool {
    line(spec, tree).is_ok_and(|line| line.as_bytes() == bytes)
}
