//! Measures the limits of the machine for each stage of an import, with one thread and without Mementory.
//!
//! Arguments: a JSON file (a list of conversations) and an empty folder for the database. Prints one JSON object with
//! MB/s (of 10^6 bytes) and rows/s. If the arguments are the word `plain` and a JSON file, parses the file twice
//! instead and prints the number of parsed bytes, which is twice the size of the file. Errors end the program.
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{
    error::Error,
    io::{Read, Write},
    path::Path,
    time::Instant,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// One conversation of the list. Its strings borrow from the bytes of the file.
#[derive(Deserialize)]
struct Conversation<'a> {
    #[serde(borrow, default)]
    title: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    mapping: std::collections::BTreeMap<&'a str, &'a RawValue>,
}

/// Bytes of text in each row, about as many as in a chat message.
const ROW_BYTES: usize = 900;
/// About this many bytes of the text are written and indexed, or the whole text if it is shorter.
const STORED_BYTES: usize = 100_000_000;

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let (Some(json), Some(folder)) = (args.next(), args.next()) else {
        return Err("limits JSON FOLDER, or limits plain FILE".into());
    };
    if json == "plain" {
        return parse_twice(&folder);
    }
    let bytes = std::fs::read(json)?;
    let text = std::str::from_utf8(&bytes)?;
    // The start of the JSON text, cut into rows at character boundaries.
    let mut rows = Vec::new();
    let mut at = 0;
    while at < text.len().min(STORED_BYTES) {
        let end = text.ceil_char_boundary((at + ROW_BYTES).min(text.len()));
        rows.push(&text[at..end]);
        at = end;
    }

    let inflate = inflate_rate(&bytes)?;
    let value =
        rate(bytes.len(), || Ok(serde_json::from_slice::<serde_json::Value>(&bytes)?.as_array().map_or(0, Vec::len)))?;
    let typed = rate(bytes.len(), || {
        let list: Vec<Conversation<'_>> = serde_json::from_slice(&bytes)?;
        Ok(list
            .iter()
            .map(|c| c.mapping.values().map(|v| v.get().len()).sum::<usize>() + c.title.as_ref().map_or(0, |t| t.len()))
            .sum())
    })?;
    let (sql_rows, sql_mb) = insert_rates(Path::new(&folder), &rows)?;
    let tantivy = index_rate(&rows)?;
    println!(
        "{}",
        serde_json::json!({
            "inflate_mb_s": inflate, "json_value_mb_s": value, "json_typed_mb_s": typed,
            "sqlcipher_rows_s": sql_rows, "sqlcipher_mb_s": sql_mb, "tantivy_mb_s": tantivy,
        })
    );
    Ok(())
}

/// Parses a file twice into values and drops them: line by line for `.jsonl`, otherwise as one document. Prints the
/// number of parsed bytes. The caller measures the time.
fn parse_twice(file: &str) -> Outcome<()> {
    let bytes = std::fs::read(file)?;
    for _ in 0..2 {
        if file.ends_with(".jsonl") {
            for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                std::hint::black_box(serde_json::from_slice::<serde_json::Value>(line)?);
            }
        } else {
            std::hint::black_box(serde_json::from_slice::<serde_json::Value>(&bytes)?);
        }
    }
    println!("{}", serde_json::json!({ "bytes": 2 * bytes.len() }));
    Ok(())
}

/// Runs `work`, which handles `bytes` bytes. Returns its rate in MB/s.
fn rate(bytes: usize, work: impl FnOnce() -> Outcome<usize>) -> Outcome<f64> {
    let started = Instant::now();
    std::hint::black_box(work()?);
    Ok(bytes as f64 / 1e6 / started.elapsed().as_secs_f64())
}

/// Compresses `bytes`, then measures inflating them: MB/s of the output.
fn inflate_rate(bytes: &[u8]) -> Outcome<f64> {
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(1));
    packed.write_all(bytes)?;
    let packed = packed.finish()?;
    rate(bytes.len(), || {
        let mut reader = flate2::read::DeflateDecoder::new(packed.as_slice());
        let mut buffer = vec![0; 1 << 16];
        let mut total = 0;
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(total),
                n => total += n,
            }
        }
    })
}

/// Measures inserting into SQLCipher with the vault's settings, checkpoint included: rows/s and MB/s.
fn insert_rates(folder: &Path, rows: &[&str]) -> Outcome<(f64, f64)> {
    let mut c = rusqlite::Connection::open(folder.join("limits.db"))?;
    c.execute_batch(
        "PRAGMA key = \"x'0101010101010101010101010101010101010101010101010101010101010101'\"; \
         PRAGMA cipher_page_size = 8192; PRAGMA cipher_hmac_algorithm = HMAC_SHA256; PRAGMA cipher_memory_security = OFF; \
         PRAGMA temp_store = MEMORY;",
    )?;
    c.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cache_size = -65536; \
         PRAGMA wal_autocheckpoint = 4000; CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT);",
    )?;
    let bytes: usize = rows.iter().map(|r| r.len()).sum();
    let started = Instant::now();
    for chunk in rows.chunks(20_000) {
        let transaction = c.transaction()?;
        {
            let mut insert = transaction.prepare_cached("INSERT INTO t(body) VALUES (?1)")?;
            for row in chunk {
                insert.execute([row])?;
            }
        }
        transaction.commit()?;
    }
    c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| r.get::<_, i64>(0))?;
    let seconds = started.elapsed().as_secs_f64();
    Ok((rows.len() as f64 / seconds, bytes as f64 / 1e6 / seconds))
}

/// Measures adding to an index in memory, with word positions and one thread, commit included: MB/s.
fn index_rate(rows: &[&str]) -> Outcome<f64> {
    let mut schema = tantivy::schema::Schema::builder();
    let field = schema.add_text_field("text", tantivy::schema::TEXT);
    let index = tantivy::Index::create_in_ram(schema.build());
    let mut writer: tantivy::IndexWriter = index.writer_with_num_threads(1, 64 << 20)?;
    let bytes = rows.iter().map(|r| r.len()).sum();
    rate(bytes, || {
        for row in rows {
            writer.add_document(tantivy::doc!(field => *row))?;
        }
        writer.commit()?;
        Ok(rows.len())
    })
}
