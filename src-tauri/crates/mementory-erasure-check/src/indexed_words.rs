//! What the index has of a record. Written for the check alone: the vault fills the index with code of its own.
use mementory_model::Record;

/// Every word of a record that the index may have: of text, title, blocks, files, names and tags, and each tag as a whole.
pub(crate) fn indexed_words(record: &Record, each: &mut impl FnMut(&str)) {
    let blocks = record.fields.get("blocks").and_then(|blocks| blocks.as_array()).into_iter().flatten();
    let files = record.attachments.iter();
    let texts = std::iter::once(record.text.as_str())
        .chain(record.title.as_deref())
        .chain(blocks.filter_map(|block| block.get("text")?.as_str()))
        .chain(files.clone().filter_map(|file| file.text.as_deref()))
        .chain(files.map(|file| file.name.as_str()))
        .chain(record.tags.iter().map(String::as_str));
    for text in texts {
        mementory_search::tokens(text).iter().for_each(|word| each(word));
    }
    record.tags.iter().for_each(|tag| each(tag));
}
