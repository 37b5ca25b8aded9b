//! The characters that HTML entities represent. Only entities for ASCII, Latin-1 and common signs are known by name.

/// The names for the characters from U+00A0 to U+00FF.
const LATIN_1: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn \
    sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde \
    Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde \
    Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil \
    egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave \
    uacute ucirc uuml yacute thorn yuml";

/// The character of an entity, given without `&` and `;`: a name, `#233` or `#xe9`.
pub(crate) fn character(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let hexadecimal = number.strip_prefix('x').or_else(|| number.strip_prefix('X'));
        let code = match hexadecimal {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    let c = match entity {
        "amp" | "AMP" => '&',
        "lt" | "LT" => '<',
        "gt" | "GT" => '>',
        "quot" | "QUOT" => '"',
        "apos" => '\'',
        "bsol" => '\\',
        "sol" => '/',
        "colon" => ':',
        "comma" => ',',
        "period" => '.',
        "Tab" => '\t',
        "NewLine" => '\n',
        "OElig" => 'Œ',
        "oelig" => 'œ',
        "Scaron" => 'Š',
        "scaron" => 'š',
        "Yuml" => 'Ÿ',
        "ensp" => '\u{2002}',
        "emsp" => '\u{2003}',
        "thinsp" => '\u{2009}',
        "zwnj" => '\u{200c}',
        "zwj" => '\u{200d}',
        "ndash" => '–',
        "mdash" => '—',
        "lsquo" => '‘',
        "rsquo" => '’',
        "sbquo" => '‚',
        "ldquo" => '“',
        "rdquo" => '”',
        "bdquo" => '„',
        "bull" => '•',
        "hellip" => '…',
        "lsaquo" => '‹',
        "rsaquo" => '›',
        "euro" => '€',
        "trade" => '™',
        "larr" => '←',
        "rarr" => '→',
        "minus" => '−',
        _ => LATIN_1.split_ascii_whitespace().zip('\u{a0}'..='\u{ff}').find(|(name, _)| *name == entity)?.1,
    };
    Some(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_those_of_html() {
        for (entity, c) in [
            ("amp", '&'),
            ("nbsp", '\u{a0}'),
            ("szlig", 'ß'),
            ("Auml", 'Ä'),
            ("yuml", 'ÿ'),
            ("#233", 'é'),
            ("#x1F600", '😀'),
        ] {
            assert_eq!(character(entity), Some(c), "{entity}");
        }
        for entity in ["Amp", "", "#", "#xd800", "#xffffffffff"] {
            assert_eq!(character(entity), None, "{entity}");
        }
    }
}
