//! Reads a character of SillyTavern and similar programs (character card V1, V2 and V3): a JSON file, or a PNG picture
//! with the same JSON in a text chunk.
use super::tavern::date;
use super::{CHARACTER_AI, SILLY_TAVERN};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::files::folder;
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::values::{first_text, other_fields};
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind, Origin, Record, RecordKey, Verbatim};
use serde_json::Value;
use std::collections::HashSet;
use std::io::Read;

/// Members of every card, in addition to its name. The first one with text becomes the text of the record.
const PARTS: [&str; 5] = ["description", "personality", "scenario", "first_mes", "mes_example"];
/// Members of a card that have a field in the model.
const MEMBERS: [&str; 5] = ["name", "description", "tags", "creation_date", "modification_date"];
/// Folder in which SillyTavern stores the pictures of its characters.
const FOLDER: &str = "characters";
/// First bytes of a PNG picture.
const PNG_MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Keywords of the PNG text chunks that contain a card, the newest version first.
const KEYWORDS: [&[u8]; 2] = [b"ccv3\0", b"chara\0"];
/// Largest size in bytes of a picture that is searched for a card.
const MAX_PICTURE_BYTES: u64 = 64 << 20;

/// True if the keys of a JSON file are those of a card.
pub(super) fn is_card(keys: &Keys) -> bool {
    let has_parts =
        |at: &str| keys.has(&format!("{at}name")) && PARTS.iter().all(|part| keys.has(&format!("{at}{part}")));
    keys.has("spec") && has_parts("data.") || has_parts("")
}

/// True for a PNG picture that contains a card. Exports contain many pictures, so a picture is opened only if the
/// person selected it on its own, or if it is in SillyTavern's folder for characters.
pub(super) fn is_picture(catalog: &Catalog, member: &Member) -> bool {
    let is_in_folder = || folder(&member.name).rsplit('/').next() == Some(FOLDER);
    let is_png = member.file_name().to_ascii_lowercase().ends_with(".png") && member.size <= MAX_PICTURE_BYTES;
    is_png
        && (member.is_selected_alone() || is_in_folder())
        && card_in(catalog, member).is_ok_and(|card| card.is_some())
}

/// The ids of the cards that were read so far. They show which cards are duplicates.
#[derive(Debug, Default)]
pub(super) struct Cards(HashSet<String>);

impl Cards {
    /// Sends the card in a file.
    pub(super) fn read(&mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let catalog = reader.catalog;
        if !member.file_name().to_ascii_lowercase().ends_with(".png") {
            reader.objects(member, &[], Kind::Profile, |reader, element| self.send(reader, member, element))?;
            return Ok(());
        }
        let Some(card) = card_in(catalog, member)? else {
            let reason = "no_card: this picture has no character";
            reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Profile));
            return Ok(());
        };
        let mut send = |reader: &mut FileReader<'_>, element: &ObjectElement<'_>| self.send(reader, member, element);
        reader.object(member, String::new(), &card, Kind::Profile, &mut send)
    }

    fn send(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let inner = element.object.object("data").filter(|_| element.object.has("spec"));
        let card = inner.as_ref().unwrap_or(&element.object);
        let text = PARTS.iter().find_map(|part| Some((*part, card.non_blank_text(part)?)));
        let name = first_text(card, &["name"]);
        let place = format!("{}#{}", member.place, element.pointer);
        let Some((part, text)) = text.filter(|_| name.is_some()) else {
            let reason = "no_content: a character without a name or a description";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Profile));
            return Ok(());
        };
        // A card has no id, so an id is made from the name and the author of the card, which change less often than its
        // other members.
        let mut id = content_id(&format!("{name:?}\n{:?}", first_text(card, &["creator"])));
        if !self.0.insert(id.clone()) {
            id = content_id(element.text);
            if !self.0.insert(id.clone()) {
                let reason = "duplicate: the same character occurs twice";
                reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Profile));
                return Ok(());
            }
        }
        let mut record = Record::new(Kind::Profile, RecordKey::new(CHARACTER_AI, format!("card/{id}")), text);
        record.title = name;
        record.record_type = Some("character".into());
        record.source.platform = SILLY_TAVERN.into();
        record.tags = tags(card);
        record.times.created = ["creation_date", "create_date"].iter().find_map(|key| date(card.raw_value(key)?));
        record.times.created = record.times.created.or_else(|| date(element.object.raw_value("create_date")?));
        record.times.updated = card.raw_value("modification_date").and_then(date);
        record.fields = other_fields(card, &MEMBERS);
        record.fields.retain(|key, value| key != part && !is_empty(value));
        record.origin = Origin {
            format: CHARACTER_AI.into(),
            version: Some(first_text(&element.object, &["spec"]).unwrap_or_else(|| "chara_card_v1".into())),
            container: member.place.clone(),
            pointer: element.pointer.clone(),
        };
        record.verbatim = Some(Verbatim::json(element.text));
        reader.sink.unit(record.into())
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn tags(card: &Object<'_>) -> Vec<String> {
    let list: Option<Vec<Value>> = card.raw_value("tags").and_then(|raw| serde_json::from_str(raw.get()).ok());
    list.unwrap_or_default().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the JSON of the card in a picture. None if the picture contains no card.
fn card_in(catalog: &Catalog, member: &Member) -> Result<Option<Vec<u8>>, FormatError> {
    let mut found: [Option<Vec<u8>>; 2] = [None, None];
    catalog
        .read(member, |bytes| read_chunks(bytes, &mut found).map_err(|error| FormatError::io(&member.place, error)))?;
    let decoded = found.into_iter().flatten().find_map(|text| STANDARD.decode(text.trim_ascii()).ok());
    Ok(decoded.filter(|json| json.trim_ascii_start().starts_with(b"{")))
}

/// Stores the contents of the text chunks that contain a card in `found`. A truncated picture is read up to the end of
/// the file.
fn read_chunks(bytes: &mut dyn Read, found: &mut [Option<Vec<u8>>; 2]) -> std::io::Result<()> {
    let mut bytes = bytes.take(MAX_PICTURE_BYTES);
    let mut magic = [0; 8];
    if read_fully(&mut bytes, &mut magic)? < magic.len() || magic != PNG_MAGIC {
        return Ok(());
    }
    loop {
        let mut head = [0; 8];
        if read_fully(&mut bytes, &mut head)? < head.len() {
            return Ok(());
        }
        let [a, b, c, d, kind @ ..] = head;
        let size = u64::from(u32::from_be_bytes([a, b, c, d]));
        if &kind == b"tEXt" {
            let mut chunk = Vec::new();
            (&mut bytes).take(size).read_to_end(&mut chunk)?;
            for (keyword, found_text) in KEYWORDS.iter().zip(found.iter_mut()) {
                if let Some(text) = chunk.strip_prefix(*keyword) {
                    found_text.get_or_insert_with(|| text.to_vec());
                }
            }
        } else {
            std::io::copy(&mut (&mut bytes).take(size), &mut std::io::sink())?;
        }
        let mut checksum = [0; 4];
        if read_fully(&mut bytes, &mut checksum)? < checksum.len() {
            return Ok(());
        }
    }
}

/// Reads until the buffer is full or the file ends. Returns the number of bytes that were read.
fn read_fully(bytes: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut count = 0;
    while let Some(rest) = buffer.get_mut(count..).filter(|rest| !rest.is_empty()) {
        match bytes.read(rest) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}
