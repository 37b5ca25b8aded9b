//! Lists the findings as a queue with one entry for each value, however often it occurs in the vault.
use crate::{
    VaultError, VaultResult,
    findings::{ValueId, class_code, class_from_code, count_by_class, value_id},
    sensitive::{
        fields::{STORED_SECRET_DETECTOR, VERBATIM_FIELD, count_code_points, field_name, fields, for_each_finding},
        scanner::Scanner,
    },
    word_removal::Removal,
};
use mementory_formats::plain_secrets;
use mementory_model::{Record, Timestamp};
use mementory_scan::{Class, Confidence, Finding};
use mementory_store::{RowView, ids::parse_id};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// Number of code points shown before and after a value in the list.
const LIST_CONTEXT: (usize, usize) = (48, 80);
/// Number of code points shown before and after a value in its detail view.
const DETAIL_CONTEXT: (usize, usize) = (160, 240);
/// Maximum number of places that are listed for one value.
const MAX_PLACES: usize = 500;

/// The decision on a sensitive value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SensitiveState {
    /// No decision was made yet.
    #[default]
    Open,
    /// The value was redacted in every record.
    Redacted,
    /// The person ignores the value.
    Ignored,
}

/// Selects the values and the page of the queue to list.
#[derive(Debug, Clone, Default)]
pub struct SensitiveQuery {
    /// List only values with this decision.
    pub state: SensitiveState,
    /// List only these classes. Empty means all.
    pub classes: Vec<Class>,
    /// Number of values to skip.
    pub offset: u32,
    /// Number of values per page, at most 500. 0 means 100.
    pub limit: u32,
}

/// A piece of the text around a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSegment {
    /// The text of the piece. Empty for a hidden value.
    pub text: String,
    /// The class of the value that is hidden here. None for text.
    pub hidden: Option<Class>,
    /// True if the hidden value is the value of this queue entry.
    pub this: bool,
}

/// One entry of the queue: a value, with the first record that contains it.
#[derive(Debug, Clone)]
pub struct SensitiveValue {
    /// Keyed fingerprint that identifies the value without showing it.
    pub value: String,
    /// The class of the value, such as an email address, a key or a phone number.
    pub class: Class,
    /// The detector that found the value at its first place.
    pub detector: String,
    /// Confidence of the finding at its first place.
    pub confidence: Confidence,
    /// Number of live records that contain the value, or contained it before the redaction.
    pub places: u32,
    /// When the person decided on the value, in microseconds since 1970.
    pub judged: Option<i64>,
    /// The first place of the value. None if the value is redacted.
    pub first: Option<SensitivePlace>,
    /// The text around the value at its first place.
    pub context: Vec<ContextSegment>,
}

impl SensitiveValue {
    /// Returns an entry whose first place is read later. `class` is the code in the database.
    fn without_place(id: ValueId, class: i64, places: u32, judged: Option<i64>) -> Self {
        Self {
            value: hex::encode(id),
            class: class_from_code(class),
            detector: String::new(),
            confidence: Confidence::Possible,
            places,
            judged,
            first: None,
            context: Vec::new(),
        }
    }
}

/// A record that contains a value.
#[derive(Debug, Clone)]
pub struct SensitivePlace {
    /// The record, as in lists.
    pub view: RowView,
    /// The field that contains the value: `text`, `title`, `file`, `block` or `verbatim`.
    pub field: &'static str,
}

/// A page of the queue, and the numbers of values for each decision.
#[derive(Debug, Clone, Default)]
pub struct SensitiveList {
    /// The values of this page.
    pub values: Vec<SensitiveValue>,
    /// Number of open values by class.
    pub open: BTreeMap<Class, u32>,
    /// Number of redacted values by class.
    pub redacted: BTreeMap<Class, u32>,
    /// Number of ignored values by class.
    pub ignored: BTreeMap<Class, u32>,
}

/// SQL for the findings in live records whose value is not ignored.
const OPEN_SQL: &str = "FROM findings f JOIN records r ON r.row = f.row \
    WHERE r.trashed IS NULL AND NOT EXISTS (SELECT 1 FROM judged j WHERE j.value = f.value AND j.verdict = 1)";

/// SQL condition for values that were redacted and not found again since.
const REDACTED_SQL: &str = "j.verdict = 2 AND NOT EXISTS (SELECT 1 FROM findings f WHERE f.value = j.value)";

impl Scanner<'_> {
    /// Returns a page of values, with the numbers of values for each decision. Open values are sorted by the severity
    /// of their class and then by confidence, and all others by the time of the decision, newest first.
    pub fn sensitive_values(&self, query: &SensitiveQuery) -> VaultResult<SensitiveList> {
        self.context.store.read(|c| {
            let mut list = SensitiveList {
                open: count_by_class(c, &format!("SELECT class, count(*) FROM (SELECT min(f.class) class {OPEN_SQL} GROUP BY f.value) GROUP BY class"), [])?,
                redacted: count_by_class(c, &format!("SELECT class, count(*) FROM judged j WHERE {REDACTED_SQL} GROUP BY class"), [])?,
                ignored: count_by_class(c, "SELECT class, count(*) FROM judged WHERE verdict = 1 GROUP BY class", [])?,
                values: Vec::new(),
            };
            let limit = if query.limit == 0 { 100 } else { query.limit.min(500) };
            let class_codes: Vec<String> = query.classes.iter().map(|class| class_code(*class).to_string()).collect();
            let class_condition = |column: &str| match class_codes.is_empty() {
                true => "1".to_owned(),
                false => format!("{column} IN ({})", class_codes.join(",")),
            };
            let sql = match query.state {
                SensitiveState::Open => format!(
                    "SELECT f.value, min(f.class), count(DISTINCT f.row), NULL {OPEN_SQL} GROUP BY f.value HAVING {} \
                     ORDER BY 2, max(f.confidence) DESC, min(f.row) LIMIT ?1 OFFSET ?2",
                    class_condition("min(f.class)")
                ),
                SensitiveState::Redacted => format!(
                    "SELECT value, class, places, at FROM judged j WHERE {REDACTED_SQL} AND {} \
                     ORDER BY at DESC, value LIMIT ?1 OFFSET ?2",
                    class_condition("class")
                ),
                SensitiveState::Ignored => format!(
                    "SELECT j.value, j.class, (SELECT count(DISTINCT f.row) FROM findings f JOIN records r ON r.row = f.row \
                     WHERE f.value = j.value AND r.trashed IS NULL), j.at FROM judged j WHERE verdict = 1 AND {} \
                     ORDER BY j.at DESC, j.value LIMIT ?1 OFFSET ?2",
                    class_condition("class")
                ),
            };
            let mut statement = c.prepare_cached(&sql)?;
            let rows = statement
                .query_map(params![limit, query.offset], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))?
                .collect::<Result<Vec<(ValueId, i64, u32, Option<i64>)>, _>>()?;
            for (id, class, places, judged) in rows {
                let mut value = SensitiveValue::without_place(id, class, places, judged);
                if query.state != SensitiveState::Redacted {
                    self.add_first_place(c, id, &mut value, LIST_CONTEXT)?;
                }
                list.values.push(value);
            }
            Ok(list)
        })
    }

    /// Returns one value with more of the text around it, and the places that contain the value, at most 500.
    ///
    /// # Errors
    /// `NotFound` if no record contains the value.
    pub fn sensitive_value(&self, value: &str) -> VaultResult<(SensitiveValue, Vec<SensitivePlace>)> {
        let id = parse_id(value).ok_or_else(|| VaultError::not_found(value))?;
        self.context.store.read(|c| {
            let sql = "SELECT min(class), count(DISTINCT f.row), (SELECT at FROM judged j WHERE j.value = ?1 AND verdict = 1) \
                       FROM findings f JOIN records r ON r.row = f.row WHERE f.value = ?1 AND r.trashed IS NULL";
            let (class, places, judged): (Option<i64>, u32, Option<i64>) =
                c.prepare_cached(sql)?.query_row([id], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
            let class = class.ok_or_else(|| VaultError::not_found(value))?;
            let mut out = SensitiveValue::without_place(id, class, places, judged);
            self.add_first_place(c, id, &mut out, DETAIL_CONTEXT)?;
            let mut values = Vec::new();
            for (row, field) in rows_with(c, id, MAX_PLACES)? {
                if let Some(view) = RowView::by_row(c, row)? {
                    values.push(SensitivePlace { view, field: field_name(field) });
                }
            }
            Ok((out, values))
        })
    }

    /// True if the last scan found a value in this row that is not ignored.
    pub fn has_sensitive_value(&self, row: i64) -> VaultResult<bool> {
        self.context.store.read(|c| {
            let sql = "SELECT 1 FROM findings f WHERE f.row = ?1 \
                       AND NOT EXISTS (SELECT 1 FROM judged j WHERE j.value = f.value AND j.verdict = 1) LIMIT 1";
            Ok(c.prepare_cached(sql)?.exists([row])?)
        })
    }

    /// Ignores these values, now and in later scans, or stops ignoring them. Returns the number of changed values.
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

    fn add_first_place(
        &self,
        c: &Connection,
        id: ValueId,
        value: &mut SensitiveValue,
        around: (usize, usize),
    ) -> VaultResult<()> {
        for (row, field) in rows_with(c, id, 8)? {
            let Some(view) = RowView::by_row(c, row)? else { continue };
            let record = self.context.store.packs.record(c, view.pack, view.slot)?;
            // The text is scanned again, because it may have changed after the last scan. Masking at the stored
            // positions could then leave the value visible.
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
    ) -> Option<(Vec<ContextSegment>, &'static str, Confidence)> {
        if field == VERBATIM_FIELD {
            // The text around a stored secret is not shown. The name of its record says what the secret is for.
            let class = Class::StoredSecret;
            let is_this = |secret: &String| value_id(&self.context.keys, class, secret) == id;
            plain_secrets(record).iter().find(|secret| is_this(secret))?;
            let piece = ContextSegment { text: String::new(), hidden: Some(class), this: true };
            return Some((vec![piece], STORED_SECRET_DETECTOR, Confidence::VeryLikely));
        }
        let text = fields(record).find(|(n, _)| *n == field)?.1;
        let mut spans = Vec::new();
        let mut values = Vec::new();
        for_each_finding(text, |finding, start, end, value| {
            spans.push((start, end, *finding, value_id(&self.context.keys, finding.class, value) == id));
            values.push((value.to_owned(), *finding));
        });
        let (start, end, finding, _) = *spans.iter().find(|(.., this)| *this)?;
        add_repeated(text, &values, &mut spans);
        Some((context_pieces(text, &spans, (start, end), around), finding.detector, finding.confidence))
    }

    /// Returns the text with a bar in place of each sensitive value.
    pub fn masked(&self, text: &str) -> String {
        let found =
            mementory_scan::scan(text).into_iter().map(|f| (text[f.start..f.end].to_owned(), REDACTION_BAR.to_owned()));
        Removal::exact(found.collect()).text(text).unwrap_or_else(|| text.to_owned())
    }

    /// Returns the fingerprints of all open values of these classes.
    pub fn open_values(&self, classes: &[Class]) -> VaultResult<Vec<String>> {
        let mut out = Vec::new();
        let mut query = SensitiveQuery { classes: classes.to_vec(), limit: 500, ..Default::default() };
        loop {
            let page = self.sensitive_values(&query)?.values;
            query.offset += page.len() as u32;
            let is_last_page = page.len() < 500;
            out.extend(page.into_iter().map(|value| value.value));
            if is_last_page {
                return Ok(out);
            }
        }
    }
}

/// Replacement of a value in a masked text.
const REDACTION_BAR: &str = "█████";
/// Length in bytes from which a value is hidden everywhere in a text.
const MIN_HIDDEN_BYTES: usize = 4;

/// Adds more occurrences of the found values. The scan finds a value only in a certain context, so it misses
/// occurrences elsewhere.
fn add_repeated(text: &str, values: &[(String, Finding)], spans: &mut Vec<Span>) {
    let mut further_spans = Vec::new();
    for (value, finding) in values.iter().filter(|(value, _)| value.len() >= MIN_HIDDEN_BYTES) {
        for (at, _) in text.match_indices(value.as_str()) {
            let start = count_code_points(&text[..at]);
            let end = start + count_code_points(value);
            let is_apart = |(from, to, ..): &Span| end <= *from || *to <= start;
            if spans.iter().chain(&further_spans).all(is_apart) {
                further_spans.push((start, end, *finding, false));
            }
        }
    }
    spans.append(&mut further_spans);
    spans.sort_by_key(|(start, ..)| *start);
}

/// A finding in the text: first code point, the code point after the last, the finding, and whether its value is the
/// value of the queue entry.
type Span = (u32, u32, Finding, bool);

/// Returns the text around the span `this`, with all values hidden.
fn context_pieces(
    text: &str,
    spans: &[Span],
    this: (u32, u32),
    (before, after): (usize, usize),
) -> Vec<ContextSegment> {
    let from = this.0.saturating_sub(before as u32);
    let to = (this.1 + after as u32).min(count_code_points(text));
    let code_points: Vec<char> = text.chars().skip(from as usize).take((to - from) as usize).collect();
    let slice = |a: u32, b: u32| code_points[(a - from) as usize..(b - from) as usize].iter().collect::<String>();
    let mut out = Vec::new();
    let mut shown_until = from;
    for (start, end, finding, _) in spans.iter().filter(|(start, end, ..)| *end > from && *start < to) {
        if *start > shown_until {
            out.push(ContextSegment { text: slice(shown_until, *start), hidden: None, this: false });
        }
        out.push(ContextSegment { text: String::new(), hidden: Some(finding.class), this: (*start, *end) == this });
        shown_until = (*end).min(to);
    }
    if shown_until < to {
        out.push(ContextSegment { text: slice(shown_until, to), hidden: None, this: false });
    }
    if from > 0
        && let Some(first) = out.first_mut().filter(|piece| piece.hidden.is_none())
    {
        first.text.insert(0, '…');
    }
    if to < count_code_points(text)
        && let Some(last) = out.last_mut().filter(|piece| piece.hidden.is_none())
    {
        last.text.push('…');
    }
    out
}

/// Returns the rows that contain a value, each with the first field that contains it.
pub(super) fn rows_with(c: &Connection, id: ValueId, max_rows: usize) -> VaultResult<Vec<(i64, u32)>> {
    let mut statement = c.prepare_cached(
        "SELECT f.row, min(f.field) FROM findings f JOIN records r ON r.row = f.row \
         WHERE f.value = ?1 AND r.trashed IS NULL GROUP BY f.row ORDER BY f.row LIMIT ?2",
    )?;
    let rows = statement.query_map(params![id, max_rows as i64], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
