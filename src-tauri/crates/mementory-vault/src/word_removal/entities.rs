//! The named entities of HTML that are decoded: those of Latin-1, and common signs.

/// The names of the characters from U+00A0 to U+00FF.
const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy",
    "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm",
    "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig",
    "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve",
    "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN",
    "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc",
    "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];
const OTHERS: [(&str, char); 43] = [
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("apos", '\''),
    ("bsol", '\\'),
    ("sol", '/'),
    ("colon", ':'),
    ("comma", ','),
    ("period", '.'),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("OElig", 'Œ'),
    ("oelig", 'œ'),
    ("Scaron", 'Š'),
    ("scaron", 'š'),
    ("Yuml", 'Ÿ'),
    ("ensp", '\u{2002}'),
    ("emsp", '\u{2003}'),
    ("thinsp", '\u{2009}'),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("bull", '•'),
    ("hellip", '…'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("euro", '€'),
    ("trade", '™'),
    ("larr", '←'),
    ("rarr", '→'),
    ("minus", '−'),
];

/// Returns the character of the HTML entity with this name.
pub(super) fn char_named(name: &str) -> Option<char> {
    let latin_char = || {
        let position = LATIN_1.iter().position(|latin| *latin == name)?;
        char::from_u32(0xa0 + u32::try_from(position).ok()?)
    };
    OTHERS.iter().find(|(other, _)| *other == name).map(|(_, c)| *c).or_else(latin_char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_html() {
        for (name, c) in [
            ("amp", '&'),
            ("nbsp", '\u{a0}'),
            ("szlig", 'ß'),
            ("eacute", 'é'),
            ("Auml", 'Ä'),
            ("yuml", 'ÿ'),
            ("hellip", '…'),
        ] {
            assert_eq!(char_named(name), Some(c), "{name}");
        }
        assert_eq!(char_named("Amp"), None);
    }
}
