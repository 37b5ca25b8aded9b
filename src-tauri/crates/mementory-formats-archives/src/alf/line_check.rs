//! Checks each line of a partition independently of all others, so that several cores can check lines in parallel.
use super::clear_secrets;
use super::findings::{MemoryFault, memory_faults};
use super::manifest::{Manifest, Partition};
use super::read::line_scan::{LineScanner, ScannedLine};
use super::references::MemoryReferences;
use super::schema;
use mementory_json::{
    Tree, TreeError,
    schema::{RepeatedKeys, check},
};
use mementory_model::{Limits, Timestamp};

/// Number of a line and the result of [`LineCheck::check`].
pub(super) type CheckResult = (u64, (ScannedLine, Result<CheckedLine, TreeError>));

/// The checks that concern a single line of a partition.
pub(super) struct LineCheck<'a> {
    pub manifest: &'a Manifest,
    pub limits: &'a Limits,
    pub row: &'a Partition,
    pub scanner: &'a LineScanner,
}

/// The result of the checks of a line. The tree of a line that fits its schema is dropped by the thread that built the
/// tree, because freeing it in another thread takes longer.
pub(super) struct CheckedLine {
    /// The line, if it violates its schema.
    pub schema_violator: Option<Tree>,
    pub faults: Vec<MemoryFault>,
    /// True if the line contains a key or token in the clear.
    pub has_secret: bool,
    pub references: MemoryReferences,
    pub is_foreign: bool,
    pub is_outside_partition: bool,
}

impl LineCheck<'_> {
    /// Scans and checks a line. The check fails if the line cannot be parsed.
    pub(super) fn check(&self, line: &[u8]) -> (ScannedLine, Result<CheckedLine, TreeError>) {
        let text = std::str::from_utf8(line).unwrap_or_default();
        // No rule applies to the content of `raw_source_format`, which makes up most of a line that we wrote.
        match Tree::parse_without_members_of("raw_source_format", text, self.limits) {
            Ok(tree) => (self.scanner.scan_tree(&tree), Ok(self.check_tree(text, tree))),
            Err(error) => (self.scanner.scan(text), Err(error)),
        }
    }

    fn check_tree(&self, text: &str, tree: Tree) -> CheckedLine {
        let mut fits_schema = true;
        check(&tree, &schema::MEMORY_RULE, RepeatedKeys::Report, &mut |_, _| fits_schema = false);
        CheckedLine {
            faults: memory_faults(&tree),
            has_secret: clear_secrets::has_secret(text),
            references: MemoryReferences::of(&tree),
            is_foreign: self.manifest.is_foreign(tree.get("agent_id").and_then(Tree::as_str)),
            is_outside_partition: self.is_outside_partition(&tree),
            schema_violator: (!fits_schema).then_some(tree),
        }
    }

    fn is_outside_partition(&self, tree: &Tree) -> bool {
        let created = tree.get("temporal").and_then(|t| t.get("created_at")).and_then(Tree::as_str);
        let Some(created) = created.and_then(Timestamp::parse) else { return false };
        let (year, month, day) = created.date();
        let date = format!("{year:04}-{month:02}-{day:02}");
        let Partition { from, to, .. } = self.row;
        from.as_ref().is_some_and(|from| date < *from) || to.as_ref().is_some_and(|to| date > *to)
    }
}
