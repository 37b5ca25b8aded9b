//! Parses a memory line in one pass. Most bytes of a line that we wrote are in our extension slot, inside
//! `raw_source_format`. In one pass, these bytes are read once instead of once for each enclosing object.
use super::extension::{self, ReadSlot};
use mementory_format::extension::{FORMER_VENDOR, VENDOR};
use mementory_json::Members;
use mementory_model::Record;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Members of a JSON object. None if the text is not an object.
pub(super) fn members(text: &str) -> Option<Members<'_>> {
    serde_json::from_str(text).ok()
}

/// The extension slot among the members of an object, under the current or the former name of the program.
pub(super) fn vendor<'a>(members: &Members<'a>) -> Option<&'a RawValue> {
    members.get(VENDOR).or_else(|| members.get(FORMER_VENDOR))
}

/// A parsed line.
pub(super) struct WholeLine<'a> {
    /// All members but `raw_source_format`.
    pub members: Members<'a>,
    /// The value of `raw_source_format`.
    pub raw_source: RawSource<'a>,
    /// The extension slot of the line. None if the line has no slot, or if slots are not read.
    pub slot: Option<ReadSlot<Record>>,
}

/// The value of `raw_source_format`.
pub(super) enum RawSource<'a> {
    /// Absent or null.
    Absent,
    /// An object. If it was parsed in one pass, a slot that was read is not among its members.
    Object(Members<'a>),
    /// Neither an object nor null.
    Other,
}

impl<'a> RawSource<'a> {
    /// The members of the object.
    pub(super) fn members(&self) -> Option<&Members<'a>> {
        match self {
            Self::Object(members) => Some(members),
            Self::Absent | Self::Other => None,
        }
    }
}

impl<'a> WholeLine<'a> {
    /// Parses a line, and the slot in it if `restores` is set. None if the line is not an object.
    pub(super) fn parse(line: &'a str, restores: bool) -> Option<Self> {
        Self::parse_in_one_pass(line, restores).or_else(|| Self::parse_in_steps(line, restores))
    }

    /// Like [`Self::parse`], but also returns None for unusual lines: lines that repeat a member which this parser
    /// reads, deeply nested lines, and lines whose slot is not ours or has deep fields.
    fn parse_in_one_pass(line: &'a str, restores: bool) -> Option<Self> {
        if restores && extension::may_have_fields_text(line) {
            return None;
        }
        let mut json = serde_json::Deserializer::from_str(line);
        let parsed = json.deserialize_map(LineVisitor { restores }).ok()?;
        json.end().ok()?;
        Some(parsed)
    }

    fn parse_in_steps(line: &'a str, restores: bool) -> Option<Self> {
        let line = members(line)?;
        let raw = line.get(RAW_SOURCE_MEMBER).filter(|raw| raw.get() != "null");
        let raw_source = match raw.map(|raw| members(raw.get())) {
            None => RawSource::Absent,
            Some(Some(members)) => RawSource::Object(members),
            Some(None) => RawSource::Other,
        };
        let slot = raw_source.members().and_then(vendor).filter(|_| restores);
        let slot = slot.and_then(|raw: &RawValue| extension::read_slot(raw.get()));
        Some(Self { members: line, raw_source, slot })
    }
}

/// The member with the values for which ALF has no field.
const RAW_SOURCE_MEMBER: &str = "raw_source_format";

fn repeated<E: Error>() -> E {
    E::custom("a member is repeated")
}

struct LineVisitor {
    restores: bool,
}

impl<'de> Visitor<'de> for LineVisitor {
    type Value = WholeLine<'de>;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON object")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut raw_source_and_slot = None;
        let members = Members::read_from(map, |key, map| {
            if key != RAW_SOURCE_MEMBER {
                return Ok(false);
            }
            if raw_source_and_slot.replace(map.next_value_seed(RawSourceSeed { restores: self.restores })?).is_some() {
                return Err(repeated());
            }
            Ok(true)
        })?;
        let (raw_source, slot) = raw_source_and_slot.unwrap_or((RawSource::Absent, None));
        Ok(WholeLine { members, raw_source, slot })
    }
}

struct RawSourceSeed {
    restores: bool,
}

impl<'de> DeserializeSeed<'de> for RawSourceSeed {
    type Value = (RawSource<'de>, Option<ReadSlot<Record>>);
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RawSourceSeed {
    type Value = (RawSource<'de>, Option<ReadSlot<Record>>);
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut slot = None;
        let members = Members::read_from(map, |key, map| {
            if !self.restores || ![VENDOR, FORMER_VENDOR].contains(&key) {
                return Ok(false);
            }
            if slot.replace(map.next_value::<ReadSlot<Record>>()?).is_some() {
                return Err(repeated());
            }
            Ok(true)
        })?;
        Ok((RawSource::Object(members), slot))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok((RawSource::Other, None))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok((RawSource::Absent, None))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok((RawSource::Other, None))
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok((RawSource::Other, None))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok((RawSource::Other, None))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok((RawSource::Other, None))
    }
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok((RawSource::Other, None))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_model::{Kind, RecordKey};

    /// The content of a parsed line, for comparing the two ways of parsing. The members are listed without the slot,
    /// because only one of the two ways keeps the slot among them.
    fn outline(line: Option<WholeLine<'_>>) -> Option<String> {
        let WholeLine { members, raw_source, slot } = line?;
        let texts = |members: &Members<'_>| -> Vec<String> {
            let is_slot = |key: &str| [VENDOR, FORMER_VENDOR].contains(&key);
            let other_members = members.0.iter().filter(|(key, _)| !is_slot(key) && key != RAW_SOURCE_MEMBER);
            other_members.map(|(key, raw)| format!("{key}:{raw}")).collect()
        };
        let raw_source = match &raw_source {
            RawSource::Absent => "absent".to_owned(),
            RawSource::Other => "other".to_owned(),
            RawSource::Object(members) => format!("{:?}", texts(members)),
        };
        let native_record = Record::new(Kind::Memory, RecordKey::new("s", "n"), "Likes tea.");
        let slot = slot.and_then(|slot| extension::restore_unchanged(slot, &native_record));
        let slot = slot.map(|found| found.unwrap_or_else(|changed| changed.restore(&native_record)));
        let slot = slot.map(|r| (r.record.text, r.record.key, r.export_id));
        Some(format!("{:?} {raw_source} {slot:?}", texts(&members)))
    }

    #[test]
    fn parsing_in_one_pass_equals_parsing_in_steps() {
        let record = Record::new(Kind::Memory, RecordKey::new("s", "own"), "Likes tea.");
        let slot = extension::slot(&record, "e", "Likes tea.");
        let line_with = |raw: &str| format!("{{\"id\":\"a\",\"{RAW_SOURCE_MEMBER}\":{raw},\"z\":[1,{{}}]}}");
        let usual_lines = [
            line_with(&format!("{{\"x\":1,\"{VENDOR}\":{slot}}}")),
            line_with(&format!("{{\"{FORMER_VENDOR}\":{slot}}}")),
            line_with("{\"x\":{}}"),
            line_with("{}"),
            line_with("null"),
            line_with("[1,[2]]"),
            line_with("\"a\""),
            line_with("true"),
            line_with("-1"),
            line_with("1"),
            line_with("0.5"),
            "{}".to_owned(),
            "{\"a\":1,\"a\":2,\"b\\u0063\":3}".to_owned(),
        ];
        let unusual_lines = [
            line_with(&format!("{{\"{VENDOR}\":{slot},\"{FORMER_VENDOR}\":{{}}}}")),
            line_with(&format!("{{\"{FORMER_VENDOR}\":{slot},\"{VENDOR}\":{slot}}}")),
            line_with(&format!("{{\"{VENDOR}\":{{}},\"{VENDOR}\":{slot}}}")),
            line_with("{\"mementory\":{\"v\":\"other\"}}"),
            line_with("{\"mementory\":null}"),
            line_with("1e999"),
            line_with("\"\\ud800\""),
            line_with(&format!("{}1{}", "[".repeat(200), "]".repeat(200))),
            format!("{{\"{RAW_SOURCE_MEMBER}\":{{}},\"{RAW_SOURCE_MEMBER}\":{{\"{VENDOR}\":{slot}}}}}"),
            format!("{{\"{RAW_SOURCE_MEMBER}\":{{\"{VENDOR}\":{slot}}},\"{RAW_SOURCE_MEMBER}\":null}}"),
            format!("{{\"{RAW_SOURCE_MEMBER}\":{{\"{VENDOR}\":{slot}}}}} 1"),
            "[]".to_owned(),
            "{\"a\":".to_owned(),
        ];
        for (line, is_usual) in
            usual_lines.iter().map(|line| (line, true)).chain(unusual_lines.iter().map(|line| (line, false)))
        {
            for restores in [true, false] {
                let steps = outline(WholeLine::parse_in_steps(line, restores));
                assert_eq!(outline(WholeLine::parse(line, restores)), steps, "{restores} {line}");
                if let Some(one_pass) = outline(WholeLine::parse_in_one_pass(line, restores)) {
                    assert_eq!(Some(one_pass), steps, "{restores} {line}");
                } else {
                    assert!(!is_usual, "{restores} {line}");
                }
            }
        }
        let restored = outline(WholeLine::parse(&usual_lines[0], true)).unwrap();
        assert!(restored.contains("\"own\"") && restored.contains("\"e\""), "{restored}");
    }
}
