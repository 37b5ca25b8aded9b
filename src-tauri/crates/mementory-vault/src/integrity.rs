//! The integrity check: header, every page, index, every blob, the audit chain, references, packs.
use crate::{VaultError, VaultResult, cancel, context::Context};
use mementory_store::{Store, audit::verify_chain, page_problems};
use std::sync::atomic::{AtomicBool, Ordering};

/// Result of the integrity check for one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedPlace {
    /// The checked place: `header`, `pages`, `index`, `blobs`, `audit`, `references` or `packs`.
    pub place: &'static str,
    /// True if the check passed.
    pub ok: bool,
    /// Description of the check, or of the fault that it found.
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
        self.check_until(&AtomicBool::new(false))
    }

    /// Like [`check`](Self::check), but stops when `cancel` is set.
    ///
    /// # Errors
    /// `Cancelled`. A place that cannot be read is reported as failed.
    pub fn check_until(&self, cancel: &AtomicBool) -> VaultResult<Vec<CheckedPlace>> {
        let header = mementory_crypto::read_header(&self.context.dir);
        let mut places = vec![CheckedPlace {
            place: "header",
            ok: header.is_ok(),
            detail: header.map_or_else(|e| e.to_string(), |h| format!("{} key slots", h.slots.len())),
        }];
        type PlaceCheck<'c> = &'c dyn Fn() -> VaultResult<CheckedPlace>;
        let checks: [(&'static str, PlaceCheck<'_>); 6] = [
            ("pages", &|| self.check_pages(cancel)),
            ("index", &|| self.check_index(cancel)),
            ("blobs", &|| self.check_blobs(cancel)),
            ("audit", &|| self.check_audit(cancel)),
            ("references", &|| self.check_references(cancel)),
            ("packs", &|| self.check_packs(cancel)),
        ];
        for (place, check) in checks {
            cancel::check(cancel)?;
            // A place that cannot be read counts as failed, and the other places are still checked.
            places.push(match check() {
                Err(VaultError::Cancelled) => return Err(VaultError::Cancelled),
                found => found.unwrap_or_else(|e| CheckedPlace { place, ok: false, detail: e.to_string() }),
            });
        }
        Ok(places)
    }

    fn check_pages(&self, cancel: &AtomicBool) -> VaultResult<CheckedPlace> {
        let problems = self.context.store.read_until(cancel, page_problems)?;
        let pages: i64 = self.context.store.read(|c| Ok(c.query_row("PRAGMA page_count", [], |r| r.get(0))?))?;
        let detail = match problems.len() {
            0 => format!("{pages} pages"),
            n => format!("{n} of {pages} pages or structures fail"),
        };
        Ok(CheckedPlace { place: "pages", ok: problems.is_empty(), detail })
    }

    fn check_index(&self, cancel: &AtomicBool) -> VaultResult<CheckedPlace> {
        let last_change = self.context.store.read(Store::last_change)?;
        let live_count = self.context.count_live_records()?;
        let (seq, documents) = self.context.with_index(|i| Ok((i.seq(), i.documents())))?;
        self.context.with_index(|index| index.check_until(&mut || cancel.load(Ordering::Relaxed)))?;
        cancel::check(cancel)?;
        let ok = seq == last_change && documents == live_count;
        let detail = if ok {
            format!("{documents} documents")
        } else {
            format!("{documents} documents for {live_count} records")
        };
        Ok(CheckedPlace { place: "index", ok, detail })
    }

    fn check_audit(&self, cancel: &AtomicBool) -> VaultResult<CheckedPlace> {
        let ok = self.context.store.read_until(cancel, |c| verify_chain(c, &self.context.keys))?;
        let detail = if ok { "chain and signatures hold" } else { "the chain is broken" };
        Ok(CheckedPlace { place: "audit", ok, detail: detail.into() })
    }

    fn check_blobs(&self, cancel: &AtomicBool) -> VaultResult<CheckedPlace> {
        let digests = self.context.blobs_in_use()?;
        let mut damaged = 0;
        for digest in &digests {
            cancel::check(cancel)?;
            damaged += usize::from(self.context.blobs.verify(digest).is_err());
        }
        let detail = if damaged == 0 {
            format!("{} files", digests.len())
        } else {
            format!("{damaged} of {} files fail", digests.len())
        };
        Ok(CheckedPlace { place: "blobs", ok: damaged == 0, detail })
    }

    fn check_packs(&self, cancel: &AtomicBool) -> VaultResult<CheckedPlace> {
        let (packs, strays) = self.context.store.read_until(cancel, |c| self.context.store.packs.count_strays(c))?;
        let detail = match strays {
            0 => format!("{packs} packs"),
            n => format!("{n} texts in {packs} packs belong to no record"),
        };
        Ok(CheckedPlace { place: "packs", ok: strays == 0, detail })
    }

    fn check_references(&self, cancel: &AtomicBool) -> VaultResult<CheckedPlace> {
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
        let mut faults = Vec::new();
        for (name, sql) in queries {
            let n: i64 = self.context.store.read_until(cancel, |c| Ok(c.query_row(sql, [], |r| r.get(0))?))?;
            if n > 0 {
                faults.push(format!("{n} {name}"));
            }
        }
        let detail = if faults.is_empty() { "all resolve".into() } else { faults.join(", ") };
        Ok(CheckedPlace { place: "references", ok: faults.is_empty(), detail })
    }
}
