//! The parts of a page: its id, title and body.
use mementory_formats_shared::files::without_extension;
use mementory_formats_shared::html::{self, RowKind, element_end, find_element};
use mementory_formats_shared::notion_names::{ID_DIGITS, is_id};

/// The element that contains a page. Its second class is the typeface that the person chose.
const ARTICLE: RowKind = RowKind { name: "article", class: "page" };
const TYPEFACES: [&str; 3] = ["sans", "serif", "mono"];
const TITLE: RowKind = RowKind { name: "h1", class: "page-title" };
const DESCRIPTION: RowKind = RowKind { name: "p", class: "page-description" };
const BODY: RowKind = RowKind { name: "div", class: "page-body" };
/// The boxes of a list of tasks, and what the text has in their place.
const BOXES: [(&str, &str); 2] =
    [("<div class=\"checkbox checkbox-on\"></div>", "[x] "), ("<div class=\"checkbox checkbox-off\"></div>", "[ ] ")];
/// Positions of the hyphens in an id.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// A page.
pub(super) struct Page<'t> {
    /// The id, without hyphens.
    pub id: String,
    /// The source text of the page, without the head with the styles.
    pub source: &'t str,
    /// True if the file ends inside the page.
    pub is_cut: bool,
}

impl<'t> Page<'t> {
    /// The page in a file. None for a file of another program.
    pub fn parse(text: &'t str) -> Option<Self> {
        let tag = find_element(text, 0, ARTICLE)?;
        let attributes = text.get(tag.clone())?;
        let has_typeface = TYPEFACES.iter().any(|typeface| attributes.contains(&format!("page {typeface}\"")));
        let id = attribute(attributes, "id").and_then(page_id).filter(|_| has_typeface)?;
        let rest = text.get(tag.start..)?;
        let end = element_end(rest, ARTICLE.name);
        Some(Self { id, source: rest.get(..end.unwrap_or(rest.len()))?, is_cut: end.is_none() })
    }

    /// The title. None if it is blank.
    pub fn title(&self) -> Option<String> {
        Some(html::to_text(element(self.source, TITLE)?)).filter(|title| !title.is_empty())
    }

    /// The text: the description below the title, and the body.
    pub fn text(&self) -> String {
        let description = element(self.source, DESCRIPTION).map(html::to_text);
        let body = self.body().map(|body| {
            html::to_text(&BOXES.iter().fold(body.to_owned(), |body, (tag, mark)| body.replace(tag, mark)))
        });
        let parts = [description, body].into_iter().flatten().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n\n")
    }

    /// The source text of the body.
    pub fn body(&self) -> Option<&'t str> {
        element(self.source, BODY)
    }
}

/// The source text of the first element of a kind, up to the end of the text if its end tag is missing.
pub(super) fn element(text: &str, kind: RowKind) -> Option<&str> {
    let rest = text.get(find_element(text, 0, kind)?.start..)?;
    rest.get(..element_end(rest, kind.name).unwrap_or(rest.len()))
}

/// The value of an attribute of a start tag.
pub(super) fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    value.split('"').next()
}

/// An id as Notion writes it in a page, without its hyphens.
fn page_id(text: &str) -> Option<String> {
    let has_hyphens = HYPHENS.iter().all(|at| text.as_bytes().get(*at) == Some(&b'-'));
    let digits = text.replace('-', "");
    (has_hyphens && is_id(&digits)).then_some(digits)
}

/// The id at the end of the name of a page's file.
pub(super) fn id_in_name(name: &str) -> Option<&str> {
    let stem = without_extension(name);
    let id = stem.get(stem.len().checked_sub(ID_DIGITS)?..)?;
    is_id(id).then_some(id)
}
