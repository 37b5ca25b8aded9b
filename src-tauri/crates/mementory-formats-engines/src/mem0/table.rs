//! Reads memories in a CSV table with the columns of mem0.
use super::record::memory;
use super::{ID, MEM0_KEYS};
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::memory_rows::{Row, RowSender};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite_rows::row_text;
use mementory_formats_shared::tables::{csv_columns, each_csv_row};
use mementory_model::{Kind, Verbatim};
use serde_json::Value;

/// True for a table with the text and the id of memories, and with a column that only mem0 writes or that states the
/// owner of a memory.
pub(super) fn is_table(catalog: &Catalog, member: &Member) -> bool {
    let columns = csv_columns(catalog, member);
    let has = |name: &str| columns.iter().any(|column| column == name);
    has("memory") && has("id") && (has("user_id") || MEM0_KEYS.into_iter().any(has))
}

/// Reads each row like a memory in a response of the API.
pub(super) fn read(rows: &mut RowSender, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    debug_assert_eq!(files.format, ID);
    each_csv_row(files, member, Kind::Memory, |files, header, cells, pointer| {
        let mut values = header.other_cells(cells, &[]);
        if let Some(Value::String(categories)) = values.get_mut("categories") {
            *categories = plain_list(categories);
        }
        let text = row_text(values, |column| column == "metadata" || column == "structured_attributes");
        let object = Object::parse(&text).unwrap_or_default();
        let row = Row { member, text: &text, pointer };
        match memory(&object) {
            Some(record) => {
                let verbatim = Verbatim { media_type: "text/csv".into(), text: cells.raw.clone() };
                rows.send_with(files, &row, record, verbatim)
            }
            None => {
                rows.fail(files, &row, "no_content: no text in it", Kind::Memory);
                Ok(())
            }
        }
    })
}

/// Returns the names in a list that Python or JSON wrote as text, separated by commas.
fn plain_list(text: &str) -> String {
    let Some(inside) = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return text.to_owned();
    };
    let names = inside.split(',').map(|name| name.trim().trim_matches(['\'', '"']).trim());
    names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ")
}
