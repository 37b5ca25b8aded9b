//! Decides whether a value looks like a password, or is instead a word, a unit, code, a path or a digest.
use crate::word_lists::password;
use crate::{Class, Confidence, Finding};

/// The finding for a password at the range `value`. `detector` is the rule that found it.
pub(crate) fn password_finding(detector: &'static str, value: (usize, usize), confidence: Confidence) -> Finding {
    Finding { class: Class::Password, detector, start: value.0, end: value.1, confidence }
}

/// Whether the value has at least four characters and mixes at least two of letters, digits, and signs that do not
/// occur in words.
pub(crate) fn is_strong(value: &str) -> bool {
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let signs = value.bytes().filter(|b| b"!@#$%^&*+=~?<>{}[]|;:".contains(b)).count();
    value.chars().count() >= 4
        && (letters > 0 && digits > 0
            || signs > 0
                && letters + digits >= 3
                && !(signs == 1 && value.ends_with(['!', '?', ':', ';']) && digits == 0)
            || digits >= 4 && value.contains(['-', '_', '.', '/']) && letters > 0)
}

/// Whether the value is strong and looks so little like a word that the word "password" directly before it is enough
/// evidence.
pub(crate) fn is_distinctive(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let has_sign = value.bytes().any(|b| b"!@#$%^&*+=~?".contains(&b));
    // Not passwords: RFC2898, KB500123, v1.2.3, notes2024.txt
    let capitals = value.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = value[capitals..].trim_start_matches('-');
    let is_numbered = capitals > 1 && rest.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let is_version = value.trim_start_matches(['v', 'V']).bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let is_file_name = value
        .rsplit_once('.')
        .is_some_and(|(_, end)| (2..=4).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase()));
    let is_long_mixed = value.len() >= 12
        && value.bytes().filter(u8::is_ascii_uppercase).count() > 1
        && value.bytes().filter(u8::is_ascii_lowercase).count() > 1
        && value.contains(|c: char| c.is_ascii_punctuation());
    is_strong(value)
        && value.len() >= 6
        && value.chars().all(|c| (c as u32) < 0x2E80)
        && (digits > 1
            || digits == 1
                && (has_sign
                    || is_long_mixed
                    || has_mixed_case(value) && !value.ends_with(|c: char| c.is_ascii_digit())))
        && !(is_numbered || is_version || is_file_name || value.starts_with('-'))
}

/// Whether a value of at least eight ASCII characters mixes capitals and small letters as a random password does.
/// Single small letters next to a capital, and small letters after two capitals, are counted; at least two are needed,
/// because one can also occur in a word or an identifier.
pub(crate) fn has_mixed_case(value: &str) -> bool {
    if value.len() < 8 || !value.is_ascii() {
        return false;
    }
    let bytes = value.as_bytes();
    let is_capital = |position: usize| bytes.get(position).is_some_and(u8::is_ascii_uppercase);
    let is_small = |position: usize| bytes.get(position).is_some_and(u8::is_ascii_lowercase);
    let is_single_small = |position: usize| {
        let position_before = position.checked_sub(1);
        is_small(position)
            && !is_small(position + 1)
            && !position_before.is_some_and(is_small)
            && (is_capital(position + 1) || position_before.is_some_and(is_capital))
    };
    let is_after_capitals =
        |position: usize| position > 1 && is_small(position) && is_capital(position - 1) && is_capital(position - 2);
    (0..bytes.len())
        .map(|position| usize::from(is_single_small(position)) + usize::from(is_after_capitals(position)))
        .sum::<usize>()
        > 1
}

/// Whether a value of at least eight bytes has a capital after a small letter.
pub(crate) fn has_inner_capital(value: &str) -> bool {
    value.len() >= 8
        && value
            .as_bytes()
            .windows(2)
            .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
            .count()
            >= 1
}

/// Whether the value is a quantity (`8-character`, `256-bit`), or begins with the name of an algorithm, an encoding or
/// another technical term (`sha256`, `utf8`, `2fa`).
pub(crate) fn is_measure(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let rest = lower.trim_start_matches(|c: char| c.is_ascii_digit() || "+-–.".contains(c));
    let is_quantity = rest.len() < lower.len()
        && password::MEASURE_UNITS
            .iter()
            .any(|unit| rest.starts_with(unit) && (unit.len() > 2 || rest.len() == unit.len()));
    const TECHNICAL_NAMES: &[&str] = &[
        "base64",
        "sha1",
        "sha2",
        "sha-",
        "sha5",
        "md5",
        "bcrypt",
        "utf-8",
        "utf8",
        "argon2",
        "aes",
        "rsa",
        "pbkdf2",
        "oauth2",
        "http",
        "ascii",
        "scrypt",
        "2fa",
        "1password",
        "ntlm",
        "case-",
    ];
    is_quantity || TECHNICAL_NAMES.iter().any(|name| lower.starts_with(name))
}

/// Whether the value is a passphrase of several words, rather than a sentence about passwords.
pub(crate) fn is_passphrase(value: &str) -> bool {
    let words: Vec<String> = value.split_whitespace().map(str::to_lowercase).collect();
    let is_about_passwords = words.iter().any(|word| {
        let bare_word = word.trim_matches(|c: char| !c.is_alphanumeric());
        password::NAMES.contains(&bare_word) || password::MESSAGE_WORDS.contains(&bare_word)
    });
    (2..=10).contains(&words.len())
        && !is_about_passwords
        && (words.len() >= 3 || is_strong(value))
        && !value.ends_with(['.', ':', '?'])
}

/// Whether the value is a word that often occurs in sentences about passwords, such as "required", "wrong" or "now".
pub(crate) fn is_ordinary_word(value: &str) -> bool {
    let lower = value.to_lowercase();
    let bare_word = lower.trim_end_matches(['.', ',', '!', '?', ':', ';']);
    password::NOT_VALUES.contains(&bare_word)
        || password::NAMES.contains(&bare_word)
        || password::FILLERS.contains(&bare_word) && bare_word != "nu"
}

/// Whether the value is program code: a call, a member, an index, an array, a path with `::`, an arrow, a pointer, a
/// number, a word with underscores, or an identifier that contains a word for a password.
pub(crate) fn is_code(value: &str) -> bool {
    let is_identifier = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !part.as_bytes()[0].is_ascii_digit()
    };
    // If the value ends at a comma inside a call, the closing bracket is missing.
    let is_call = value.find('(').is_some_and(|position| {
        is_identifier(value[..position].trim_end_matches('!').rsplit(['.', ':']).next().unwrap_or(""))
            && (value.ends_with([')', '(']) || !value.contains(')'))
            || value.ends_with("()")
    });
    let is_array = value.strip_prefix('[').is_some_and(is_identifier) || value.contains("![");
    let is_member = value.contains('.')
        && value.split('.').all(|part| is_identifier(part) && part.bytes().all(|b| !b.is_ascii_digit()));
    // In Perl, PHP and Ruby, variables are written `$name` and `@name`.
    let is_variable = |part: &str| is_identifier(part.trim_start_matches(['$', '@', '&']));
    let is_index = value
        .find('[')
        .is_some_and(|position| is_variable(&value[..position]) && (value.ends_with(']') || value.ends_with('[')));
    let is_snake_case = value.contains('_')
        && !has_mixed_case(value)
        && is_identifier(value)
        && value.bytes().all(|b| !b.is_ascii_digit());
    let has_arrow =
        value.contains("=>") || value.contains("->") || value.contains("::") || value == "{" || value == "[";
    let names_password = is_identifier(value)
        && {
            let lower = value.to_ascii_lowercase();
            lower.contains("password")
                || lower.contains("passwd")
                || lower.starts_with("pass")
                || lower.starts_with("pwd")
        }
        && value.bytes().filter(u8::is_ascii_digit).count() < 2;
    let is_pointer = value.strip_prefix('*').is_some_and(is_identifier);
    is_call
        || is_array
        || is_member
        || is_index
        || is_snake_case
        || has_arrow
        || names_password
        || is_pointer
        || is_literal(value)
}

/// Whether the value is an identifier that contains "pass", such as `not_for_passphrase`.
pub(crate) fn is_label(value: &str) -> bool {
    value.contains('_') && value.contains("pass") && value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// Whether the value is a number in code: `2966u32`, `0x00B4`, `0x46ce_f267`.
fn is_literal(value: &str) -> bool {
    let digits = |part: &str, is_hexadecimal: bool| {
        !part.is_empty()
            && part.bytes().all(|b| b == b'_' || b.is_ascii_digit() || is_hexadecimal && b.is_ascii_hexdigit())
    };
    let has_type_suffix = value.rfind(['u', 'i', 'f']).is_some_and(|position| {
        matches!(&value[position + 1..], "8" | "16" | "32" | "64" | "128" | "size") && digits(&value[..position], false)
    });
    has_type_suffix || value.strip_prefix("0x").is_some_and(|rest| digits(rest, true))
}

pub(crate) fn is_path(value: &str) -> bool {
    value.starts_with("./")
        || value.starts_with("../")
        || value.starts_with("~/")
        || value.starts_with("C:\\")
        || value.contains("://")
        || value.starts_with(['$', '@'])
            && value[1..].starts_with(|c: char| c.is_ascii_lowercase())
            && value.contains('/')
        || value.starts_with('/') && value[1..].contains('/') && value.len() > 5
}

/// Whether the value is a hashed password, a digest or a UUID.
pub(crate) fn is_digest(value: &str) -> bool {
    [
        "$2a$", "$2b$", "$2y$", "$argon2", "$6$", "$5$", "$1$", "{SSHA}", "{SHA}", "pbkdf2", "scrypt:", "sha256:",
        "sha256$", "md5:",
    ]
    .iter()
    .any(|start| value.starts_with(start))
        || matches!(value.len(), 32 | 40 | 64 | 128) && crate::entropy::is_hex(value)
        || crate::entropy::is_uuid(value)
}
