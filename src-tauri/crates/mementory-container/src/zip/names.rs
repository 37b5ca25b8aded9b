//! Decodes entry names from bytes to text, and turns a text into a name that is safe to show and to compare.
use super::{extra_field, le32};
use std::borrow::Cow;

/// Bytes 0x80–0xFF of code page 437, the encoding that ZIP had before UTF-8.
const CP437_HIGH_CHARS: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// Decodes a name by the first rule that applies: its Unicode extra field, UTF-8 (flagged or not), Shift-JIS if every
/// character is ASCII or Japanese, code page 437.
pub(super) fn decode(name_bytes: &[u8], flags: u16, extra: &[u8]) -> String {
    if let Some([1, field @ ..]) = extra_field(extra, 0x7075)
        && field.len() > 4
        && le32(field, 0) == crc32fast::hash(name_bytes)
        && let Ok(name) = std::str::from_utf8(&field[4..])
    {
        return name.to_owned();
    }
    match std::str::from_utf8(name_bytes) {
        Ok(name) => name.to_owned(),
        Err(_) if flags & 0x800 != 0 => String::from_utf8_lossy(name_bytes).into_owned(),
        Err(_) => shift_jis(name_bytes).unwrap_or_else(|| cp437(name_bytes)),
    }
}

fn shift_jis(name_bytes: &[u8]) -> Option<String> {
    let name = encoding_rs::SHIFT_JIS.decode_without_bom_handling_and_without_replacement(name_bytes)?;
    // Half-width kana are not accepted. They are single bytes, so names in other encodings would be mistaken for them.
    let japanese = |c: char| {
        c.is_ascii() || matches!(c, '\u{3000}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}' | '\u{FF01}'..='\u{FF5E}')
    };
    name.chars().all(japanese).then(|| name.into_owned())
}

fn cp437(name_bytes: &[u8]) -> String {
    let high: Vec<char> = CP437_HIGH_CHARS.chars().collect();
    name_bytes
        .iter()
        .map(|b| if *b < 0x80 { char::from(*b) } else { high.get(usize::from(*b) - 0x80).copied().unwrap_or('?') })
        .collect()
}

/// The name with `/` between its parts and without empty or `.` parts, or the reason why it is refused.
pub(in super::super) fn safe_name(name: &str) -> Result<Cow<'_, str>, &'static str> {
    let drive = name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && name.as_bytes().get(1) == Some(&b':');
    if name.contains('\0') {
        return Err("NUL in the name");
    }
    if name.starts_with(['/', '\\']) || drive {
        return Err("absolute name");
    }
    let parts = || name.split(['/', '\\']).filter(|p| !p.is_empty() && *p != ".");
    if parts().any(|p| p == "..") {
        return Err("name leads out of the archive");
    }
    if parts().next().is_none() {
        return Err("empty name");
    }
    let is_safe_already = !name.contains('\\') && name.split('/').all(|p| !p.is_empty() && p != ".");
    Ok(if is_safe_already { Cow::Borrowed(name) } else { Cow::Owned(parts().collect::<Vec<_>>().join("/")) })
}
