//! Writes printable pages as HTML with escaped texts. A page contains no scripts, and no URLs from which a browser
//! would load anything.
use quick_xml::escape::escape;

/// A page that is written from top to bottom.
pub(super) struct Page {
    out: String,
}

/// A cell of a table.
pub(super) enum Cell<'c> {
    /// A number.
    Number(u32),
    /// A short text that must not be wrapped.
    Short(&'c str),
    /// A text of a record.
    Quote(&'c str),
    /// A text of the page itself.
    Text(&'c str),
}

const STYLE: &str = include_str!("../../data/report/page.css");
/// The content security policy of the page. With it, nothing is loaded and nothing runs, even if a text is not escaped
/// correctly.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

impl Page {
    pub(super) fn new(language: &str, title: &str) -> Self {
        let (language, title) = (escape(language), escape(title));
        let out = format!(
            "<!doctype html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
             </head>\n<body>\n<h1>{title}</h1>\n"
        );
        Self { out }
    }

    /// Returns the finished page.
    pub(super) fn finish(mut self) -> String {
        self.out.push_str("</body>\n</html>\n");
        self.out
    }

    fn element(&mut self, name: &str, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.out.push_str(&format!("<{name}{class}>{}</{name}>\n", escape(text)));
    }

    pub(super) fn begin_section(&mut self, title: &str, new_page: bool) {
        self.out.push_str(if new_page { "<section class=\"new-page\">\n" } else { "<section>\n" });
        self.element("h2", "", title);
    }

    pub(super) fn end_section(&mut self) {
        self.out.push_str("</section>\n");
    }

    pub(super) fn heading(&mut self, text: &str) {
        self.element("h3", "", text);
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        self.element("p", "", text);
    }

    pub(super) fn note(&mut self, text: &str) {
        self.element("p", "soft", text);
    }

    /// Appends a paragraph with the text of a record.
    pub(super) fn quote(&mut self, text: &str) {
        self.out.push_str(&format!("<p class=\"quote\" dir=\"auto\">{}</p>\n", escape(text)));
    }

    /// Appends a record: its title or author, details about it, and its text. Redacted words are shown as bars.
    pub(super) fn entry(&mut self, heading: &str, details: &[String], text: &str) {
        self.out.push_str("<article>\n");
        if !heading.trim().is_empty() {
            self.out.push_str(&format!("<h3 dir=\"auto\">{}</h3>\n", escape(with_bars(heading))));
        }
        let details: Vec<&str> =
            details.iter().map(String::as_str).filter(|detail| !detail.trim().is_empty()).collect();
        if !details.is_empty() {
            self.out.push_str(&format!("<p class=\"facts\" dir=\"auto\">{}</p>\n", escape(details.join(" \u{b7} "))));
        }
        if !text.is_empty() {
            self.quote(&with_bars(text));
        }
        self.out.push_str("</article>\n");
    }

    /// Returns the HTML that was written since the last call, and removes it from the page.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// Appends a table of texts. If `head` is empty, the first cell of each row is its heading.
    pub(super) fn text_table(&mut self, head: &[String], rows: &[Vec<String>]) {
        self.out.push_str("<table>\n");
        if !head.is_empty() {
            let cells: String =
                head.iter().map(|name| format!("<th scope=\"col\">{}</th>", escape(name.as_str()))).collect();
            self.out.push_str(&format!("<thead><tr>{cells}</tr></thead>\n"));
        }
        self.out.push_str("<tbody>\n");
        for row in rows {
            let cells: String = row
                .iter()
                .enumerate()
                .map(|(n, cell)| match n {
                    0 => format!("<th scope=\"row\" dir=\"auto\">{}</th>", escape(cell.as_str())),
                    _ => format!("<td dir=\"auto\">{}</td>", escape(cell.as_str())),
                })
                .collect();
            self.out.push_str(&format!("<tr>{cells}</tr>\n"));
        }
        self.out.push_str("</tbody>\n</table>\n");
    }

    /// Appends a table. `head` contains the names of its columns.
    pub(super) fn table(&mut self, head: &[&str], rows: &[Vec<Cell<'_>>]) {
        self.out.push_str("<table>\n<thead><tr>");
        for (n, name) in head.iter().enumerate() {
            let number = rows.first().and_then(|row| row.get(n)).is_some_and(|cell| matches!(cell, Cell::Number(_)));
            let class = if number { " class=\"n\"" } else { "" };
            self.out.push_str(&format!("<th{class} scope=\"col\">{}</th>", escape(*name)));
        }
        self.out.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.out.push_str("<tr>");
            for cell in row {
                self.out.push_str(&match cell {
                    Cell::Number(number) => format!("<td class=\"n\">{number}</td>"),
                    Cell::Short(text) => format!("<td class=\"short\">{}</td>", escape(*text)),
                    Cell::Quote(text) => format!("<td class=\"quote\" dir=\"auto\">{}</td>", escape(*text)),
                    Cell::Text(text) => format!("<td>{}</td>", escape(*text)),
                });
            }
            self.out.push_str("</tr>\n");
        }
        self.out.push_str("</tbody>\n</table>\n");
    }

    pub(super) fn begin_letter(&mut self) {
        self.out.push_str("<div class=\"letter\">\n");
    }

    /// Appends a line of a letter, for the person to fill in.
    pub(super) fn fill_in_line(&mut self, text: &str) {
        self.element("p", "gap", text);
    }

    pub(super) fn numbered_list(&mut self, entries: &[String]) {
        self.out.push_str("<ol>\n");
        for entry in entries {
            self.out.push_str(&format!("<li dir=\"auto\">{}</li>\n", escape(entry.as_str())));
        }
        self.out.push_str("</ol>\n");
    }

    pub(super) fn end_letter(&mut self) {
        self.out.push_str("</div>\n");
    }
}

/// The bar that is shown instead of redacted words, as in the window.
const BAR: &str = "█████";

/// Replaces each mark `[REDACTED:…]` in a text with a bar.
fn with_bars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[REDACTED:") {
        let class = after.split_once(']').map(|(class, _)| class);
        let is_class = |class: &str| {
            !class.is_empty() && class.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        };
        out.push_str(before);
        match class.filter(|class| is_class(class)) {
            Some(class) => {
                out.push_str(BAR);
                rest = &after[class.len() + 1..];
            }
            None => {
                out.push_str(&rest[before.len()..rest.len() - after.len()]);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_element() {
        let hostile = "</td></style><script>alert(1)</script>\"'&<img src=x onerror=y>";
        let mut page = Page::new("en", hostile);
        page.begin_section(hostile, true);
        page.table(&[hostile], &[vec![Cell::Quote(hostile)], vec![Cell::Short(hostile)]]);
        page.quote(hostile);
        page.numbered_list(&[hostile.to_owned()]);
        page.entry(hostile, &[hostile.to_owned()], hostile);
        page.text_table(&[hostile.to_owned()], &[vec![hostile.to_owned(), hostile.to_owned()]]);
        page.end_section();
        let html = page.finish();
        assert!(!html.contains("<script") && !html.contains("<img"), "{html}");
        assert_eq!(html.matches("</style>").count(), 1);
    }

    #[test]
    fn redacted_words_are_bars_and_other_brackets_stay() {
        assert_eq!(with_bars("a [REDACTED:card] b [REDACTED:removed]"), "a █████ b █████");
        for text in ["[REDACTED:]", "[REDACTED:a b]", "[REDACTED:card", "[REDACTED:[x]]", "ü"] {
            assert_eq!(with_bars(text), text);
        }
    }
}
