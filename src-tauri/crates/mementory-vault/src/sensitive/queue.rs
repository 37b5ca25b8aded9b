//! The findings as a queue: one entry for each value, however often it occurs in the vault.
use crate::{
    VaultError, VaultResult,
    findings::{ValueId, by_class, class_code, class_from, value_id},
    sensitive::{fields::count, fields::each, fields::field_name, fields::fields, scanner::Scanner},
    word_removal::Removal,
};
use mementory_model::{Record, Timestamp};
use mementory_scan::{Class, Confidence, Finding};
use mementory_store::{RowView, ids::parse_id};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// Code points shown before and after a value in the list, and in the detail.
const BRIEF: (usize, usize) = (48, 80);
const WIDE: (usize, usize) = (160, 240);
/// Places listed for one value.
const PLACES: usize = 500;

/// Which values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SensitiveState {
    /// No decision yet.
    #[default]
    Open,
    /// Redacted in every record.
    Redacted,
    /// Not to be shown again.
    Ignored,
}

/// A page of the queue.
#[derive(Debug, Clone, Default)]
pub struct SensitiveQuery {
    /// Which values.
    pub state: SensitiveState,
    /// Only these classes; empty = all.
    pub classes: Vec<Class>,
    /// Values to leave out at the beginning.
    pub offset: u32,
    /// Values per page, 1..=500; 0 = 100.
    pub limit: u32,
}

/// A piece of the text around a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Text; empty for a value.
    pub text: String,
    /// The class of the value at this place.
    pub hidden: Option<Class>,
    /// True for the value of this entry.
    pub this: bool,
}

/// One value.
#[derive(Debug, Clone)]
pub struct SensitiveValue {
    /// Its fingerprint.
    pub value: String,
    /// What it is.
    pub class: Class,
    /// Detector that found it first.
    pub detector: String,
    /// Highest confidence of its findings.
    pub confidence: Confidence,
    /// Live records that contain it.
    pub places: u32,
    /// When it was decided on, in microseconds.
    pub judged: Option<i64>,
    /// Its first place; none when it is redacted.
    pub first: Option<SensitivePlace>,
    /// The text around it there.
    pub context: Vec<Piece>,
}

/// A record that holds a value.
#[derive(Debug, Clone)]
pub struct SensitivePlace {
    /// Its row.
    pub view: RowView,
    /// `text`, `title`, `file` or `block`.
    pub field: &'static str,
}

/// A page of the queue, and how long each is.
#[derive(Debug, Clone, Default)]
pub struct SensitiveList {
    /// This page.
    pub values: Vec<SensitiveValue>,
    /// Values by state and class.
    pub open: BTreeMap<Class, u32>,
    /// Redacted values by class.
    pub redacted: BTreeMap<Class, u32>,
    /// Ignored values by class.
    pub ignored: BTreeMap<Class, u32>,
}

const OPEN: &str = "FROM findings f JOIN records r ON r.row = f.row \
    WHERE r.trashed IS NULL AND NOT EXISTS (SELECT 1 FROM judged j WHERE j.value = f.value AND j.verdict = 1)";

/// Redacted, and not found again since.
const GONE: &str = "j.verdict = 2 AND NOT EXISTS (SELECT 1 FROM findings f WHERE f.value = j.value)";

impl Scanner<'_> {
    /// A page of values, by severity of the class and then by confidence, with the length of every queue.
    pub fn sensitive_values(&self, query: &SensitiveQuery) -> VaultResult<SensitiveList> {
        self.context.store.read(|c| {
            let mut list = SensitiveList {
                open: by_class(c, &format!("SELECT class, count(*) FROM (SELECT min(f.class) class {OPEN} GROUP BY f.value) GROUP BY class"), [])?,
                redacted: by_class(c, &format!("SELECT class, count(*) FROM judged j WHERE {GONE} GROUP BY class"), [])?,
                ignored: by_class(c, "SELECT class, count(*) FROM judged WHERE verdict = 1 GROUP BY class", [])?,
                values: Vec::new(),
            };
            let limit = if query.limit == 0 { 100 } else { query.limit.min(500) };
            let chosen: Vec<String> = query.classes.iter().map(|class| class_code(*class).to_string()).collect();
            let only = |column: &str| match chosen.is_empty() {
                true => "1".to_owned(),
                false => format!("{column} IN ({})", chosen.join(",")),
            };
            let sql = match query.state {
                SensitiveState::Open => format!(
                    "SELECT f.value, min(f.class), count(DISTINCT f.row), NULL {OPEN} GROUP BY f.value HAVING {} \
                     ORDER BY 2, max(f.confidence) DESC, min(f.row) LIMIT ?1 OFFSET ?2",
                    only("min(f.class)")
                ),
                SensitiveState::Redacted => format!(
                    "SELECT value, class, places, at FROM judged j WHERE {GONE} AND {} \
                     ORDER BY at DESC, value LIMIT ?1 OFFSET ?2",
                    only("class")
                ),
                SensitiveState::Ignored => format!(
                    "SELECT j.value, j.class, (SELECT count(DISTINCT f.row) FROM findings f JOIN records r ON r.row = f.row \
                     WHERE f.value = j.value AND r.trashed IS NULL), j.at FROM judged j WHERE verdict = 1 AND {} \
                     ORDER BY j.at DESC, j.value LIMIT ?1 OFFSET ?2",
                    only("class")
                ),
            };
            let mut statement = c.prepare_cached(&sql)?;
            let rows = statement
                .query_map(params![limit, query.offset], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))?
                .collect::<Result<Vec<(ValueId, i64, u32, Option<i64>)>, _>>()?;
            for (id, class, places, judged) in rows {
                let mut value = SensitiveValue {
                    value: hex::encode(id),
                    class: class_from(class),
                    detector: String::new(),
                    confidence: Confidence::Possible,
                    places,
                    judged,
                    first: None,
                    context: Vec::new(),
                };
                if query.state != SensitiveState::Redacted {
                    self.add_first(c, id, &mut value, BRIEF)?;
                }
                list.values.push(value);
            }
            Ok(list)
        })
    }

    /// One value with more of the text around it, and every place of it.
    ///
    /// # Errors
    /// `NotFound` when no record holds it.
    pub fn sensitive_value(&self, value: &str) -> VaultResult<(SensitiveValue, Vec<SensitivePlace>)> {
        let id = parse_id(value).ok_or_else(|| VaultError::not_found(value))?;
        self.context.store.read(|c| {
            let sql = "SELECT min(class), count(DISTINCT f.row), (SELECT at FROM judged j WHERE j.value = ?1 AND verdict = 1) \
                       FROM findings f JOIN records r ON r.row = f.row WHERE f.value = ?1 AND r.trashed IS NULL";
            let (class, places, judged): (Option<i64>, u32, Option<i64>) =
                c.prepare_cached(sql)?.query_row([id], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
            let class = class.ok_or_else(|| VaultError::not_found(value))?;
            let mut out = SensitiveValue {
                value: value.to_owned(),
                class: class_from(class),
                detector: String::new(),
                confidence: Confidence::Possible,
                places,
                judged,
                first: None,
                context: Vec::new(),
            };
            self.add_first(c, id, &mut out, WIDE)?;
            let mut found = Vec::new();
            for (row, field) in rows_with(c, id, PLACES)? {
                if let Some(view) = RowView::by_row(c, row)? {
                    found.push(SensitivePlace { view, field: field_name(field) });
                }
            }
            Ok((out, found))
        })
    }

    /// Whether the last scan found a value without a decision in this row.
    pub fn holds_sensitive(&self, row: i64) -> VaultResult<bool> {
        self.context.store.read(|c| {
            let sql = "SELECT 1 FROM findings f WHERE f.row = ?1 \
                       AND NOT EXISTS (SELECT 1 FROM judged j WHERE j.value = f.value AND j.verdict = 1) LIMIT 1";
            Ok(c.prepare_cached(sql)?.exists([row])?)
        })
    }

    /// Ignores these values from now on, also in later scans; or stops ignoring them.
    pub fn ignore_values(&self, values: &[String], ignored: bool, now: Timestamp) -> VaultResult<u32> {
        let ids: Vec<ValueId> = values.iter().filter_map(|value| parse_id(value)).collect();
        self.context.store.write(|tx| {
            let mut changed = 0;
            for id in &ids {
                if !ignored {
                    changed += tx.execute("DELETE FROM judged WHERE value = ?1 AND verdict = 1", [id])?;
                    continue;
                }
                changed += tx.execute(
                    "INSERT OR REPLACE INTO judged (value, class, verdict, places, at) \
                     SELECT value, min(class), 1, 0, ?2 FROM findings WHERE value = ?1 GROUP BY value",
                    params![id, now.as_micros()],
                )?;
            }
            let op = if ignored { "ignore" } else { "ignore_no_more" };
            mementory_store::audit::append(tx, &self.context.keys, now, op, "", &format!("{changed} values"))?;
            Ok(changed as u32)
        })
    }

    fn add_first(
        &self,
        c: &Connection,
        id: ValueId,
        value: &mut SensitiveValue,
        around: (usize, usize),
    ) -> VaultResult<()> {
        for (row, field) in rows_with(c, id, 8)? {
            let Some(view) = RowView::by_row(c, row)? else { continue };
            let record = self.context.store.packs.record(c, view.pack, view.slot)?;
            // Scanned again: since the last scan the text may have moved, and the value would be shown.
            let Some((context, detector, confidence)) = self.context_around(&record, field, id, around) else {
                continue;
            };
            value.context = context;
            value.detector = detector.to_owned();
            value.confidence = confidence;
            value.first = Some(SensitivePlace { view, field: field_name(field) });
            break;
        }
        Ok(())
    }

    fn context_around(
        &self,
        record: &Record,
        field: u32,
        id: ValueId,
        around: (usize, usize),
    ) -> Option<(Vec<Piece>, &'static str, Confidence)> {
        let text = fields(record).find(|(n, _)| *n == field)?.1;
        let mut spans = Vec::new();
        let mut values = Vec::new();
        each(text, |finding, start, end, value| {
            spans.push((start, end, *finding, value_id(&self.context.keys, finding.class, value) == id));
            values.push((value.to_owned(), *finding));
        });
        let (start, end, finding, _) = *spans.iter().find(|(.., this)| *this)?;
        add_repeated(text, &values, &mut spans);
        Some((pieces(text, &spans, (start, end), around), finding.detector, finding.confidence))
    }

    /// A text with every sensitive value in it as a bar of its own.
    pub fn masked(&self, text: &str) -> String {
        let found = mementory_scan::scan(text).into_iter().map(|f| (text[f.start..f.end].to_owned(), BAR.to_owned()));
        Removal::exact(found.collect()).text(text).unwrap_or_else(|| text.to_owned())
    }

    /// Fingerprints of every open value of these classes.
    pub fn open_values(&self, classes: &[Class]) -> VaultResult<Vec<String>> {
        let mut out = Vec::new();
        let mut query = SensitiveQuery { classes: classes.to_vec(), limit: 500, ..Default::default() };
        loop {
            let page = self.sensitive_values(&query)?.values;
            query.offset += page.len() as u32;
            let last = page.len() < 500;
            out.extend(page.into_iter().map(|value| value.value));
            if last {
                return Ok(out);
            }
        }
    }
}

/// What replaces a value in a title.
const BAR: &str = "█████";
/// Shortest value that is hidden everywhere in a text.
const SHORT: usize = 4;

/// Adds spans of found values that occur again without context.
fn add_repeated(text: &str, values: &[(String, Finding)], spans: &mut Vec<Span>) {
    let mut more = Vec::new();
    for (value, finding) in values.iter().filter(|(value, _)| value.len() >= SHORT) {
        for (at, _) in text.match_indices(value.as_str()) {
            let start = count(&text[..at]);
            let end = start + count(value);
            let free = |(from, to, ..): &Span| end <= *from || *to <= start;
            if spans.iter().chain(&more).all(free) {
                more.push((start, end, *finding, false));
            }
        }
    }
    spans.append(&mut more);
    spans.sort_by_key(|(start, ..)| *start);
}

/// First and last code point, what was found, and whether it is the value in question.
type Span = (u32, u32, Finding, bool);

/// The text around `this`, with all values in it left out.
fn pieces(text: &str, spans: &[Span], this: (u32, u32), (before, after): (usize, usize)) -> Vec<Piece> {
    let from = this.0.saturating_sub(before as u32);
    let to = (this.1 + after as u32).min(count(text));
    let points: Vec<char> = text.chars().skip(from as usize).take((to - from) as usize).collect();
    let slice = |a: u32, b: u32| points[(a - from) as usize..(b - from) as usize].iter().collect::<String>();
    let mut out = Vec::new();
    let mut at = from;
    for (start, end, finding, _) in spans.iter().filter(|(start, end, ..)| *end > from && *start < to) {
        if *start > at {
            out.push(Piece { text: slice(at, *start), hidden: None, this: false });
        }
        out.push(Piece { text: String::new(), hidden: Some(finding.class), this: (*start, *end) == this });
        at = (*end).min(to);
    }
    if at < to {
        out.push(Piece { text: slice(at, to), hidden: None, this: false });
    }
    if from > 0
        && let Some(first) = out.first_mut().filter(|piece| piece.hidden.is_none())
    {
        first.text.insert(0, '…');
    }
    if to < count(text)
        && let Some(last) = out.last_mut().filter(|piece| piece.hidden.is_none())
    {
        last.text.push('…');
    }
    out
}

/// Rows that hold a value, with the first field of each that does.
pub(super) fn rows_with(c: &Connection, id: ValueId, most: usize) -> VaultResult<Vec<(i64, u32)>> {
    let mut statement = c.prepare_cached(
        "SELECT f.row, min(f.field) FROM findings f JOIN records r ON r.row = f.row \
         WHERE f.value = ?1 AND r.trashed IS NULL GROUP BY f.row ORDER BY f.row LIMIT ?2",
    )?;
    let rows = statement.query_map(params![id, most as i64], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
