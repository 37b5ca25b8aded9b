//! Reads a log and checks the hash of every event and its link to the previous event. Events missing at the end cannot
//! be detected, because a log is not signed. Faults are reported, and every event with a correct hash is imported.
use crate::zaxy::{
    canonical::canonical,
    log_event::{Event, LOG_FORMAT},
    to_record::to_record,
};
use mementory_format::{Catalog, Finding, FormatError, Member, Sink, Validation};
use mementory_json::Tree;
use mementory_model::{Dropped, DroppedAs, Issue, Limits, Origin, Record, Unit, Verbatim};
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Read};

/// The result of checking a line.
enum CheckedLine<'a> {
    /// An event with a correct hash. `link` is an error (code and message) if it does not link to the previous event.
    Event { event: Box<Event>, source: &'a str, link: Result<(), (&'static str, String)>, repeats_a_key: bool },
    /// A line that is not an event, or an event with a wrong hash: code and message.
    Invalid(&'static str, String),
}

/// Code and message of the warning about an event with a repeated key. The hash covers only the last of the values, as
/// in the reference implementation.
const DUPLICATE_KEY: (&str, &str) = ("duplicate_key", "a key occurs twice in one object; the last one counts");

/// Code and message of the error about a timestamp that the reference implementation cannot read.
const BAD_TIME: (&str, &str) = ("bad_value", "the timestamp is not a date or time of ISO 8601");

/// Calls `visit` with the number, size in bytes and check result of each line that is not blank. Fails if there are
/// more lines than `Limits::entries`.
fn for_each_line(
    catalog: &Catalog,
    member: &Member,
    limits: &Limits,
    visit: &mut dyn FnMut(u64, usize, CheckedLine<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    catalog.read(member, |reader| {
        let mut reader = BufReader::with_capacity(256 << 10, reader);
        let io = |e| FormatError::io(&member.place, e);
        let (mut buffer, mut number, mut events) = (Vec::new(), 0u64, 0u64);
        let mut previous: Option<(u64, String)> = None;
        loop {
            buffer.clear();
            let read = reader.by_ref().take(limits.line_bytes + 1).read_until(b'\n', &mut buffer).map_err(io)?;
            if read == 0 {
                return Ok(());
            }
            number += 1;
            if number > limits.entries {
                let place = member.place.clone();
                return Err(FormatError::Limit { limit: "entries", place, figure: limits.entries });
            }
            let is_complete = buffer.ends_with(b"\n") || buffer.len() as u64 <= limits.line_bytes;
            if !is_complete {
                let bytes = read + skip_line(&mut reader).map_err(io)?;
                events += 1;
                visit(
                    number,
                    bytes,
                    CheckedLine::Invalid("malformed_event", format!("longer than {} bytes", limits.line_bytes)),
                )?;
                continue;
            }
            let line = if number == 1 { buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&buffer) } else { &buffer };
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            events += 1;
            let parsed = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned()).and_then(|source| {
                let tree = Tree::parse(source, limits.json_depth).map_err(|e| e.to_string())?;
                Ok((source, Event::parse(&tree, events)?, tree.repeats_a_key_at_any_depth()))
            });
            let (source, event, repeats_a_key) = match parsed {
                Ok(parsed) => parsed,
                Err(why) => {
                    visit(number, read, CheckedLine::Invalid("malformed_event", why))?;
                    continue;
                }
            };
            if event.computed_hash().as_deref() != Some(event.hash.as_str()) {
                let why = format!("event {} is not what was sealed: its hash does not fit", event.seq);
                previous = Some((event.seq, event.hash.clone()));
                visit(number, read, CheckedLine::Invalid("hash_mismatch", why))?;
                continue;
            }
            let link = check_link(&event, previous.as_ref());
            previous = Some((event.seq, event.hash.clone()));
            visit(number, read, CheckedLine::Event { event: Box::new(event), source, link, repeats_a_key })?;
        }
    })
}

fn skip_line(reader: &mut impl BufRead) -> std::io::Result<usize> {
    let mut skipped_count = 0;
    loop {
        let chunk = reader.fill_buf()?;
        let end = memchr::memchr(b'\n', chunk);
        let n = end.map_or(chunk.len(), |at| at + 1);
        reader.consume(n);
        skipped_count += n;
        if end.is_some() || n == 0 {
            return Ok(skipped_count);
        }
    }
}

fn check_link(event: &Event, previous: Option<&(u64, String)>) -> Result<(), (&'static str, String)> {
    let expected = previous.map_or(1, |(seq, _)| seq.saturating_add(1));
    if event.seq != expected {
        return Err(("sequence_broken", format!("expected event {expected}, found event {}", event.seq)));
    }
    if event.previous.as_ref() != previous.map(|(_, hash)| hash) {
        let why = match previous {
            None => "the first event names one before it".to_owned(),
            Some((seq, _)) => format!("event {} does not name event {seq} as the one before it", event.seq),
        };
        return Err(("chain_broken", why));
    }
    Ok(())
}

/// Reads a log into the sink. A record has the same key as if it were read from Zaxy's export of the event.
pub(super) fn read(
    catalog: &Catalog,
    member: &Member,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut bytes_sent = 0;
    for_each_line(catalog, member, limits, &mut |number, bytes, line| {
        let place = format!("{}:{number}", member.place);
        bytes_sent += bytes as u64;
        match line {
            CheckedLine::Invalid(code, why) => {
                let reason = format!("{code}: {why}");
                sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind: None });
            }
            CheckedLine::Event { event, source, link, repeats_a_key } => {
                if repeats_a_key {
                    sink.note(Issue::new(DUPLICATE_KEY.0, &place, DUPLICATE_KEY.1));
                }
                if let Err((code, why)) = link {
                    sink.note(Issue::new(code, &place, why));
                } else if !event.has_valid_time() {
                    sink.note(Issue::new(BAD_TIME.0, &place, BAD_TIME.1));
                }
                if event.is_encrypted() {
                    let message = "what this event says is encrypted, and its key is not in the log";
                    sink.note(Issue::new("encrypted_payload", &place, message));
                }
                let origin = Origin {
                    format: LOG_FORMAT.into(),
                    version: None,
                    container: member.place.clone(),
                    pointer: format!("line {number}"),
                };
                sink.unit(Unit::from(record(&event, source, origin)))?;
            }
        }
        sink.progress(bytes_sent)
    })
}

fn record(event: &Event, source: &str, origin: Origin) -> Record {
    let entry = event.entry();
    // Cannot fail: `canonical` fails only for a number without a canonical form, and an event with such a number cannot
    // have a correct hash.
    let id = hex::encode(Sha256::digest(canonical(&entry).unwrap_or_default()));
    let mut record = to_record(&entry, &id, false);
    if event.is_encrypted() {
        record.text = String::new();
    }
    if let Some((tier, _)) = &event.security {
        record.sensitivity = Some(tier.clone());
    }
    record.origin = origin;
    record.verbatim = Some(Verbatim::json(source));
    record
}

/// A log may have a million events with the same fault.
const MAX_FINDINGS: usize = 10_000;

/// Validates a log: every hash and every link. It is an error if `trust` contains keys, because a log cannot be signed.
pub(super) fn validate(
    catalog: &Catalog,
    member: &Member,
    limits: &Limits,
    trust: &[String],
) -> Result<Validation, FormatError> {
    let mut out = Validation { kind: Some("log".into()), ..Validation::default() };
    if !trust.is_empty() {
        let message = "a log is not signed, and a signature by a trusted key is required".into();
        out.errors.push(Finding { code: "signature_missing".into(), place: member.place.clone(), message });
    }
    for_each_line(catalog, member, limits, &mut |number, _, line| {
        out.records += 1;
        let place = || format!("{}:{number}", member.place);
        if matches!(&line, CheckedLine::Event { repeats_a_key: true, .. }) && out.warnings.len() < MAX_FINDINGS {
            let (code, message) = DUPLICATE_KEY;
            out.warnings.push(Finding { code: code.into(), place: place(), message: message.into() });
        }
        let (code, message) = match line {
            CheckedLine::Invalid(code, why) => (code, why),
            CheckedLine::Event { link: Err(broken), .. } => broken,
            CheckedLine::Event { event, .. } if !event.has_valid_time() => (BAD_TIME.0, BAD_TIME.1.to_owned()),
            CheckedLine::Event { source, .. } => {
                out.version.get_or_insert_with(|| {
                    if source.contains("\"integrity\"") { "eventloom.v1".into() } else { "zaxy.legacy".into() }
                });
                return Ok(());
            }
        };
        if out.errors.len() < MAX_FINDINGS {
            out.errors.push(Finding { code: code.into(), place: place(), message });
        }
        Ok(())
    })?;
    Ok(out)
}
