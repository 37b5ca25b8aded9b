//! The integrity check of header, pages, index, blobs, audit chain, references and packs.
use crate::{VaultResult, audit::AuditTrail, context::Context};
use mementory_search::SearchIndex;
use mementory_store::{Store, page_problems};

/// Result of the integrity check for one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedPlace {
    /// `header`, `pages`, `index`, `blobs`, `audit`, `references`, `packs`.
    pub place: &'static str,
    /// True if the check passed.
    pub ok: bool,
    /// What was checked, or what is wrong.
    pub detail: String,
}

/// Checks every part of the vault.
#[derive(Clone, Copy)]
pub struct IntegrityCheck<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> IntegrityCheck<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl IntegrityCheck<'_> {
    /// Checks the header, every page, the index, every blob, the audit chain, references and packs.
    pub fn check(&self) -> VaultResult<Vec<CheckedPlace>> {
        let header = mementory_crypto::read_header(&self.context.dir);
        let mut places = vec![CheckedPlace {
            place: "header",
            ok: header.is_ok(),
            detail: header.map_or_else(|e| e.to_string(), |h| format!("{} key slots", h.slots.len())),
        }];
        // A place that cannot be read counts as failed. The others are checked all the same.
        let mut add_place = |place: &'static str, found: VaultResult<CheckedPlace>| {
            places.push(found.unwrap_or_else(|e| CheckedPlace { place, ok: false, detail: e.to_string() }));
        };
        add_place("pages", self.check_pages());
        add_place("index", self.check_index());
        add_place("blobs", self.check_blobs());
        add_place("audit", self.check_audit());
        add_place("references", self.check_references());
        add_place("packs", self.check_packs());
        Ok(places)
    }

    fn check_pages(&self) -> VaultResult<CheckedPlace> {
        let problems = self.context.store.read(page_problems)?;
        let pages: i64 = self.context.store.read(|c| Ok(c.query_row("PRAGMA page_count", [], |r| r.get(0))?))?;
        let detail = match problems.len() {
            0 => format!("{pages} pages"),
            n => format!("{n} of {pages} pages or structures fail"),
        };
        Ok(CheckedPlace { place: "pages", ok: problems.is_empty(), detail })
    }

    fn check_index(&self) -> VaultResult<CheckedPlace> {
        let last = self.context.store.read(Store::last_change)?;
        let live = self.context.live_records()?;
        let (seq, documents) = self.context.with_index(|i| Ok((i.seq(), i.documents())))?;
        self.context.with_index(SearchIndex::check)?;
        let ok = seq == last && documents == live;
        let detail =
            if ok { format!("{documents} documents") } else { format!("{documents} documents for {live} records") };
        Ok(CheckedPlace { place: "index", ok, detail })
    }

    fn check_audit(&self) -> VaultResult<CheckedPlace> {
        let ok = AuditTrail::new(self.context).verify()?;
        let detail = if ok { "chain and signatures hold" } else { "the chain is broken" };
        Ok(CheckedPlace { place: "audit", ok, detail: detail.into() })
    }

    fn check_blobs(&self) -> VaultResult<CheckedPlace> {
        let digests = self.context.named_blobs()?;
        let bad = digests.iter().filter(|d| self.context.blobs.verify(d).is_err()).count();
        let detail = if bad == 0 {
            format!("{} files", digests.len())
        } else {
            format!("{bad} of {} files fail", digests.len())
        };
        Ok(CheckedPlace { place: "blobs", ok: bad == 0, detail })
    }

    fn check_packs(&self) -> VaultResult<CheckedPlace> {
        let (packs, strays) = self.context.store.read(|c| self.context.store.packs.strays(c))?;
        let detail = match strays {
            0 => format!("{packs} packs"),
            n => format!("{n} texts in {packs} packs belong to no record"),
        };
        Ok(CheckedPlace { place: "packs", ok: strays == 0, detail })
    }

    fn check_references(&self) -> VaultResult<CheckedPlace> {
        let queries = [
            (
                "records without a pack",
                "SELECT count(*) FROM records r WHERE NOT EXISTS (SELECT 1 FROM packs WHERE id = r.pack)",
            ),
            (
                "versions without a record",
                "SELECT count(*) FROM versions v WHERE NOT EXISTS (SELECT 1 FROM records WHERE row = v.row)",
            ),
            (
                "tags without a record",
                "SELECT count(*) FROM tags t WHERE NOT EXISTS (SELECT 1 FROM records WHERE row = t.row)",
            ),
            (
                "links without a record",
                "SELECT count(*) FROM links l WHERE NOT EXISTS (SELECT 1 FROM records WHERE row = l.row)",
            ),
            (
                "file references without a record",
                "SELECT count(*) FROM file_refs f WHERE NOT EXISTS (SELECT 1 FROM records WHERE row = f.row)",
            ),
            (
                "messages without a conversation",
                "SELECT count(*) FROM records r WHERE r.owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM records WHERE row = r.owner)",
            ),
        ];
        let mut wrong = Vec::new();
        for (name, sql) in queries {
            let n: i64 = self.context.store.read(|c| Ok(c.query_row(sql, [], |r| r.get(0))?))?;
            if n > 0 {
                wrong.push(format!("{n} {name}"));
            }
        }
        let detail = if wrong.is_empty() { "all resolve".into() } else { wrong.join(", ") };
        Ok(CheckedPlace { place: "references", ok: wrong.is_empty(), detail })
    }
}
