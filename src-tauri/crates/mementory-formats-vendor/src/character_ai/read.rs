//! Reads each file of a claim according to its shape.
use super::{CHARACTER_AI, card, detect, histories, tavern};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Issue, Kind};

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut cards = card::Cards::default();
    FileReader::new(CHARACTER_AI, catalog, context, sink).each_file(
        detected,
        |reader, member, _| match detect::shape_in(catalog, member) {
            Some(detect::Shape::Tavern) => tavern::read(reader, member),
            Some(detect::Shape::Card) => cards.read(reader, member),
            _ => read_histories(reader, member),
        },
    )
}

fn read_histories(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut character: Option<String> = None;
    let mut turns = histories::LooseTurns::default();
    let count = reader.objects(member, &histories::LIST_KEYS, Kind::Conversation, |reader, element| {
        if let Some(info) = element.object.object("info") {
            character = histories::character_of(&info);
        }
        match histories::is_turn(&element.object) {
            true => turns.add(reader, member, element),
            false => histories::read(reader, member, element, character.as_deref()),
        }
    })?;
    turns.send(reader, member)?;
    if count == 0 {
        reader.sink.note(Issue::new("empty", &member.place, "this file contains no histories"));
    }
    Ok(())
}
