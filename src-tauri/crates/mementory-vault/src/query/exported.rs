//! Determines when an export was made. The time of its newest record is not enough, since the assistant may not have
//! been used for a while before the export.
use crate::VaultResult;
use mementory_model::Timestamp;
use rusqlite::Connection;
use std::collections::HashMap;

/// The earliest day in a file's name that counts as the day of an export. No assistant had an export before that day.
const FIRST_EXPORT_DAY: &str = "2022-11-30";

/// Returns the time at which the newest export of each format was made, even if it contained nothing new. A batch of
/// several formats has no format itself; its formats are in its report.
pub(crate) fn newest_export_times(c: &Connection) -> VaultResult<HashMap<String, i64>> {
    let mut statement = c.prepare_cached(
        "SELECT format, names, at FROM batches WHERE undone_at IS NULL AND format IS NOT NULL \
         UNION ALL SELECT s.value ->> 'format', b.names, b.at FROM batches b, \
         json_each(CASE b.report WHEN '' THEN '{}' ELSE b.report END, '$.sources') s \
         WHERE b.undone_at IS NULL AND b.format IS NULL",
    )?;
    let mut rows = statement.query([])?;
    let mut out = HashMap::new();
    while let Some(row) = rows.next()? {
        let (Some(format), names): (Option<String>, String) = (row.get(0)?, row.get(1)?) else { continue };
        let exported_at = export_time(&names, row.get(2)?);
        let newest = out.entry(format).or_insert(exported_at);
        *newest = exported_at.max(*newest);
    }
    Ok(out)
}

/// Returns the time at which the files of an import were made: the latest day in their names, or else the time of the
/// import.
pub(crate) fn export_time(names: &str, imported: i64) -> i64 {
    let first = Timestamp::parse(FIRST_EXPORT_DAY).map_or(0, Timestamp::as_micros);
    let days = (0..names.len()).filter_map(|at| names.get(at..at + FIRST_EXPORT_DAY.len())).filter(|text| is_day(text));
    let times = days.filter_map(Timestamp::parse).map(Timestamp::as_micros);
    times.filter(|time| (first..=imported).contains(time)).max().unwrap_or(imported)
}

fn is_day(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_day_in_a_file_name_is_the_day_of_the_export() {
        let micros_of = |text: &str| Timestamp::parse(text).unwrap().as_micros();
        let imported = micros_of("2026-11-23T08:00:00Z");
        for (names, expected) in [
            (r#"["deepseek_data-2026-09-16.zip"]"#, micros_of("2026-09-16")),
            (r#"["9fé-2026-08-01-10-22-07-41aa.zip"]"#, micros_of("2026-08-01")),
            (r#"["data-2026-01-05-batch-0000.zip","data-2026-01-06-batch-0001.zip"]"#, micros_of("2026-01-06")),
            (r#"["conversations.json"]"#, imported),
            (r#"["letters-1934-05-01.zip"]"#, imported),
            (r#"["plan-2027-01-01.md"]"#, imported),
            (r#"["2026-13-40.zip"]"#, imported),
            ("", imported),
        ] {
            assert_eq!(export_time(names, imported), expected, "{names}");
        }
    }
}
