//! Reads the table, one record for each row.
use super::{ID, ID_COLUMN, TEXT_COLUMN, VERSION, cells};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_formats_shared::{
    export_files::readable::{VALUE_NAMES, record_of},
    reader::FileReader,
    tables::{CsvRows, Header, Row, RowFault},
};
use mementory_model::{DroppedAs, Record, Unit};

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    FileReader::new(ID, catalog, context, sink).each_file(detected, |reader, member, _| {
        let (catalog, limits) = (reader.catalog, &reader.context.limits);
        catalog.read(member, |bytes| {
            let mut rows = CsvRows::new(bytes, limits, &member.place)?;
            let Some(header) = rows.next(&member.place)?.map(Header::new) else { return Ok(()) };
            let columns = Columns::of(header);
            while let Some(row) = rows.next(&member.place)? {
                read_row(reader, member, &columns, &row)?;
            }
            Ok(())
        })
    })
}

struct Columns {
    header: Header,
    text: Option<usize>,
    /// The positions of the columns in [`VALUE_NAMES`].
    positions: Vec<Option<usize>>,
    known_columns: Vec<Option<usize>>,
}

impl Columns {
    fn of(header: Header) -> Self {
        let text = header.column(&[TEXT_COLUMN]);
        let positions: Vec<Option<usize>> = VALUE_NAMES.iter().map(|name| header.column(&[name])).collect();
        let known_columns = positions.iter().copied().chain([text, header.column(&[ID_COLUMN])]).collect();
        Self { header, text, positions, known_columns }
    }
}

fn read_row(reader: &mut FileReader<'_>, member: &Member, columns: &Columns, row: &Row) -> Result<(), FormatError> {
    let pointer = format!("row {}", row.number);
    let record = match row.fault {
        Some(RowFault::TooLarge) => Err("too_large: this row is larger than the limit"),
        Some(RowFault::Truncated) => Err("truncated: the file ends inside this row"),
        None if row.is_blank() => return Ok(()),
        None => record(columns, row).ok_or("malformed: this row is of no known kind"),
    };
    match record {
        Ok(mut record) => {
            record.origin.version = Some(VERSION.into());
            record.origin.container.clone_from(&member.place);
            record.origin.pointer = pointer;
            reader.sink.unit(Unit::from(record))
        }
        Err(reason) => {
            reader.report_dropped(format!("{}#{pointer}", member.place), DroppedAs::Failed, reason, None);
            Ok(())
        }
    }
}

fn record(columns: &Columns, row: &Row) -> Option<Record> {
    let cell = |column: Option<usize>| cells::unescaped(row.cell(column)).to_owned();
    let value = |name: &str| {
        let at = VALUE_NAMES.iter().position(|known| *known == name);
        cell(at.and_then(|at| columns.positions.get(at).copied().flatten()))
    };
    let mut record = record_of(ID, cell(columns.text), value)?;
    // Columns that a person added to the table become fields.
    record.fields.extend(columns.header.other_cells(row, &columns.known_columns));
    Some(record)
}
