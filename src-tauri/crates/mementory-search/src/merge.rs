//! Which segments become one: few enough for a search, small enough that rewriting one for an erasure is quick.
use tantivy::{
    index::SegmentMeta,
    indexer::{MergeCandidate, MergePolicy},
};

/// Most documents a segment is merged or filled to. One of this size is rewritten in about a third of a second.
pub(crate) const MAX_SEGMENT_DOCS: u32 = 65_536;
/// Segments of one size class that trigger a merge.
const WIDTH: usize = 6;
/// Everything below this is one size class.
const SMALL: u32 = 512;

/// Merges six segments of about the same size into one, never beyond [`MAX_SEGMENT_DOCS`].
#[derive(Debug)]
pub(crate) struct SmallSegments;

impl MergePolicy for SmallSegments {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let mut open: Vec<&SegmentMeta> = segments.iter().filter(|s| s.num_docs() <= MAX_SEGMENT_DOCS / 2).collect();
        open.sort_by_key(|s| (s.num_docs(), s.id()));
        let mut out = Vec::new();
        let mut group: Vec<&SegmentMeta> = Vec::new();
        let mut docs = 0;
        let mut class = 0;
        for segment in open {
            let size = size_class(segment.num_docs());
            if docs + segment.num_docs() > MAX_SEGMENT_DOCS {
                // Full: merging these is final.
                flush(&mut group, &mut docs, 2, &mut out);
            } else if size != class {
                flush(&mut group, &mut docs, WIDTH, &mut out);
            }
            class = size;
            docs += segment.num_docs();
            group.push(segment);
        }
        flush(&mut group, &mut docs, WIDTH, &mut out);
        out
    }
}

fn size_class(docs: u32) -> u32 {
    (docs.max(SMALL) / SMALL).ilog2() / 2
}

fn flush(group: &mut Vec<&SegmentMeta>, docs: &mut u32, least: usize, out: &mut Vec<MergeCandidate>) {
    if group.len() >= least {
        out.push(MergeCandidate(group.iter().map(|s| s.id()).collect()));
    }
    group.clear();
    *docs = 0;
}
