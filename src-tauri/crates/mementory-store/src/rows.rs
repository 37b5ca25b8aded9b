//! Rows of `records`: the fields that queries can read without unpacking a record.
use crate::StoreResult;
use mementory_model::{Kind, Record, SaidBy, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row};

/// Bits of `records.flags`.
#[derive(Debug)]
pub struct Flags;
impl Flags {
    /// The source does not display the record.
    pub const HIDDEN: i64 = 1;
    /// The message is on the branch that the person last had open.
    pub const ACTIVE: i64 = 2;
    /// Words of the record were redacted.
    pub const REDACTED: i64 = 4;
    /// The person edited the record, so it differs from its verbatim.
    pub const EDITED: i64 = 8;
    /// The conversation has more than one branch.
    pub const BRANCHED: i64 = 16;
    /// The source marks the memory as not exportable (PAM `access.exportable`), so no export contains it.
    pub const NOT_EXPORTABLE: i64 = 32;
    /// The person said the record's text. If neither this bit nor one of the next two is set, the speaker is unknown.
    pub const SAID_BY_USER: i64 = 64;
    /// The assistant said the text.
    pub const SAID_BY_ASSISTANT: i64 = 128;
    /// A program inserted the text.
    pub const SAID_BY_SYSTEM: i64 = 256;
    /// All bits for who said the text.
    pub const SAID_BY: i64 = Self::SAID_BY_USER | Self::SAID_BY_ASSISTANT | Self::SAID_BY_SYSTEM;

    /// The bit for who said a record's text. 0 if that is unknown.
    pub const fn said_by(who: Option<SaidBy>) -> i64 {
        match who {
            None => 0,
            Some(SaidBy::User) => Self::SAID_BY_USER,
            Some(SaidBy::Assistant) => Self::SAID_BY_ASSISTANT,
            Some(SaidBy::System) => Self::SAID_BY_SYSTEM,
        }
    }
}

/// Reason why a version was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Cause {
    Import = 0,
    Edit = 1,
    Restore = 2,
    Written = 4,
}

impl Cause {
    /// Stable name of the cause with this code.
    pub fn name(code: i64) -> &'static str {
        match code {
            0 => "import",
            1 => "edit",
            2 => "restore",
            _ => "written",
        }
    }
}

/// Code of a kind in the store: its index in `Kind::ALL`, which must therefore never be reordered.
pub fn kind_code(kind: Kind) -> i64 {
    Kind::ALL.iter().position(|k| *k == kind).map_or(-1, |i| i as i64)
}

/// The kind with this code.
pub fn kind_from_code(code: i64) -> Kind {
    usize::try_from(code).ok().and_then(|i| Kind::ALL.get(i).copied()).unwrap_or(Kind::Foreign)
}

/// Values that may be newer in the row of a record than in its body. If only these values change in a newer export, the
/// body is not rewritten.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "columns of `records`, see schema.sql")]
pub struct RenewedValues {
    pub sort: i64,
    pub position: i64,
    pub flags: i64,
    pub updated: Option<i64>,
}

impl RenewedValues {
    /// Sets the values in the record of the row: the time of its last change, and for a message its position in the
    /// conversation, whether it is hidden, and whether it is on the active branch.
    pub fn apply_to(self, record: &mut Record) {
        record.times.updated = self.updated_time(record);
        if let Some(message) = &mut record.message {
            message.position = u32::try_from(self.position).unwrap_or(message.position);
            message.hidden = self.flags & Flags::HIDDEN != 0;
            message.active = self.flags & Flags::ACTIVE != 0;
        }
    }

    /// The time when the source last changed the record of the row. For a conversation, this is the time of its list
    /// position if that time is later than those in the body.
    pub fn updated_time(self, record: &Record) -> Option<Timestamp> {
        let stated_time = record.times.updated;
        let former_list_time = stated_time.or(record.times.created).filter(|_| record.kind == Kind::Conversation);
        let newer_list_time = former_list_time.and_then(|former_list_time| {
            Timestamp::from_micros(self.sort).filter(|newer_list_time| *newer_list_time > former_list_time)
        });
        newer_list_time.or(stated_time).max(self.updated.and_then(Timestamp::from_micros))
    }
}

/// Columns that [`RowView::read`] needs, in this order.
pub const ROW_COLUMNS: &str = "r.row, r.id, r.kind, p.name, r.sort, r.owner, r.parent, r.position, r.flags, r.pack, \
     r.slot, r.version, r.since, r.cause, r.batch, r.version_batch, r.trashed, r.type, r.status, r.title, r.preview, r.updated";

/// One row of `records`.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "columns of `records`, see schema.sql")]
pub struct RowView {
    pub row: i64,
    pub id: [u8; 16],
    pub kind: Kind,
    /// Name of the platform, which is the source that people see.
    pub source: String,
    pub sort: i64,
    pub owner: Option<i64>,
    pub parent: Option<i64>,
    pub position: i64,
    pub flags: i64,
    pub pack: i64,
    pub slot: u32,
    pub version: u32,
    pub since: i64,
    pub cause: i64,
    pub batch: Option<i64>,
    pub version_batch: Option<i64>,
    pub trashed: Option<i64>,
    pub record_type: Option<String>,
    pub status: Option<String>,
    pub title: Option<String>,
    pub preview: Option<String>,
    pub updated: Option<i64>,
}

impl RowView {
    /// True if the source does not display the record.
    pub fn hidden(&self) -> bool {
        self.flags & Flags::HIDDEN != 0
    }

    /// True if the message is on the branch that the person last had open.
    pub fn active(&self) -> bool {
        self.flags & Flags::ACTIVE != 0
    }

    /// True if words of the record were redacted.
    pub fn redacted(&self) -> bool {
        self.flags & Flags::REDACTED != 0
    }

    /// True for a conversation with more than one branch.
    pub fn branched(&self) -> bool {
        self.flags & Flags::BRANCHED != 0
    }

    /// Values that may be newer than those in the record of this row.
    pub fn renewed(&self) -> RenewedValues {
        let Self { sort, position, flags, updated, .. } = *self;
        RenewedValues { sort, position, flags, updated }
    }

    /// The time when the source last changed `record`, which must be the record of this row.
    pub fn updated_time(&self, record: &Record) -> Option<Timestamp> {
        self.renewed().updated_time(record)
    }

    /// The reason why the current version was written: `import`, `edit`, `restore` or `written`.
    pub fn cause_name(&self) -> &'static str {
        Cause::name(self.cause)
    }

    /// Reads a row of a query over [`ROW_COLUMNS`].
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            row: row.get(0)?,
            id: row.get(1)?,
            kind: kind_from_code(row.get(2)?),
            source: row.get(3)?,
            sort: row.get(4)?,
            owner: row.get(5)?,
            parent: row.get(6)?,
            position: row.get(7)?,
            flags: row.get(8)?,
            pack: row.get(9)?,
            slot: row.get(10)?,
            version: row.get(11)?,
            since: row.get(12)?,
            cause: row.get(13)?,
            batch: row.get(14)?,
            version_batch: row.get(15)?,
            trashed: row.get(16)?,
            record_type: row.get(17)?,
            status: row.get(18)?,
            title: row.get(19)?,
            preview: row.get(20)?,
            updated: row.get(21)?,
        })
    }

    /// The record's id in hexadecimal.
    pub fn id_text(&self) -> String {
        hex::encode(self.id)
    }

    /// Row of the record with this id.
    pub fn by_id(connection: &Connection, id: &[u8; 16]) -> StoreResult<Option<Self>> {
        let sql = format!("SELECT {ROW_COLUMNS} FROM records r JOIN platforms p ON p.id = r.platform WHERE r.id = ?1");
        Ok(connection.prepare_cached(&sql)?.query_row([id], Self::read).optional()?)
    }

    /// Row with this number.
    pub fn by_row(connection: &Connection, row: i64) -> StoreResult<Option<Self>> {
        let sql = format!("SELECT {ROW_COLUMNS} FROM records r JOIN platforms p ON p.id = r.platform WHERE r.row = ?1");
        Ok(connection.prepare_cached(&sql)?.query_row([row], Self::read).optional()?)
    }
}

/// Number of a platform. A new name gets a new number.
pub fn platform_id(connection: &Connection, name: &str) -> StoreResult<i64> {
    let existing_id: Option<i64> = connection
        .prepare_cached("SELECT id FROM platforms WHERE name = ?1")?
        .query_row([name], |r| r.get(0))
        .optional()?;
    if let Some(id) = existing_id {
        return Ok(id);
    }
    connection.prepare_cached("INSERT INTO platforms (name) VALUES (?1)")?.execute([name])?;
    Ok(connection.last_insert_rowid())
}

/// Next unused row number. Numbers are never reused, not even those of erased records.
pub fn next_row(tx: &Connection) -> StoreResult<i64> {
    let last: Option<i64> = tx.query_row("SELECT max(row) FROM records", [], |r| r.get(0))?;
    let last_used: Option<i64> =
        tx.query_row("SELECT value FROM meta WHERE key = 'last_row'", [], |r| r.get(0)).optional()?;
    let row = last.unwrap_or(0).max(last_used.unwrap_or(0)) + 1;
    tx.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('last_row', ?1)", [row])?;
    Ok(row)
}
