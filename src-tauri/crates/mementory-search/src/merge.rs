//! Chooses which segments are merged. Few segments make searches fast, and small segments can be rewritten quickly for
//! an erasure.
use tantivy::{
    index::SegmentMeta,
    indexer::{MergeCandidate, MergePolicy},
};

/// Segments are never filled or merged beyond this number of documents. Rewriting a segment of this size takes about a
/// third of a second.
pub(crate) const MAX_SEGMENT_DOCS: u32 = 65_536;
/// A merge starts when a size class has this many segments.
const SEGMENTS_PER_MERGE: usize = 6;
/// All segments with fewer documents than this are in the same size class.
const SMALLEST_CLASS_DOCS: u32 = 512;

/// A merge policy. It merges segments of about the same size, never beyond [`MAX_SEGMENT_DOCS`]. A merge has at least
/// six segments, or at least two if one more segment would exceed that limit.
#[derive(Debug)]
pub(crate) struct SmallSegments;

impl MergePolicy for SmallSegments {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let mut mergeable: Vec<&SegmentMeta> =
            segments.iter().filter(|s| s.num_docs() <= MAX_SEGMENT_DOCS / 2).collect();
        mergeable.sort_by_key(|s| (s.num_docs(), s.id()));
        let mut out = Vec::new();
        let mut group: Vec<&SegmentMeta> = Vec::new();
        let mut docs = 0;
        let mut class = 0;
        for segment in mergeable {
            let size = size_class(segment.num_docs());
            if docs + segment.num_docs() > MAX_SEGMENT_DOCS {
                // The next segment would exceed the limit, so the group is merged even if it has only two segments.
                push_candidate(&mut group, &mut docs, 2, &mut out);
            } else if size != class {
                push_candidate(&mut group, &mut docs, SEGMENTS_PER_MERGE, &mut out);
            }
            class = size;
            docs += segment.num_docs();
            group.push(segment);
        }
        push_candidate(&mut group, &mut docs, SEGMENTS_PER_MERGE, &mut out);
        out
    }
}

fn size_class(docs: u32) -> u32 {
    (docs.max(SMALLEST_CLASS_DOCS) / SMALLEST_CLASS_DOCS).ilog2() / 2
}

fn push_candidate(group: &mut Vec<&SegmentMeta>, docs: &mut u32, min_segments: usize, out: &mut Vec<MergeCandidate>) {
    if group.len() >= min_segments {
        out.push(MergeCandidate(group.iter().map(|s| s.id()).collect()));
    }
    group.clear();
    *docs = 0;
}
