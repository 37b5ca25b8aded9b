//! Lists the words that the index may contain for a record. The check has its own code for this, independent of the
//! vault's code that fills the index.
use mementory_model::Record;

/// Calls `each` with every word of a record that the index may contain (from text, title, blocks, files, names and
/// tags), and with each whole tag.
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
