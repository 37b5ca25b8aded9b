//! Decides whether a value looks like a password, or is a word, a unit, code, a path or a digest.
use crate::word_lists::password;
use crate::{Class, Confidence, Finding};

/// The password at `value`, found by the rule `detector`.
pub(crate) fn finding(detector: &'static str, value: (usize, usize), confidence: Confidence) -> Finding {
    Finding { class: Class::Password, detector, start: value.0, end: value.1, confidence }
}

/// Whether the value has letters and digits, or letters and signs that do not occur in words.
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

/// Whether the value is strong and so different from words that the word "password" directly before it is sufficient.
pub(crate) fn is_distinctive(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let has_sign = value.bytes().any(|b| b"!@#$%^&*+=~?".contains(&b));
    // Excluded values: RFC2898, KB500123, v1.2.3, notes2024.txt
    let capitals = value.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = value[capitals..].trim_start_matches('-');
    let numbered = capitals > 1 && rest.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let version = value.trim_start_matches(['v', 'V']).bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let file = value
        .rsplit_once('.')
        .is_some_and(|(_, end)| (2..=4).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase()));
    let long = value.len() >= 12
        && value.bytes().filter(u8::is_ascii_uppercase).count() > 1
        && value.bytes().filter(u8::is_ascii_lowercase).count() > 1
        && value.contains(|c: char| c.is_ascii_punctuation());
    is_strong(value)
        && value.len() >= 6
        && value.chars().all(|c| (c as u32) < 0x2E80)
        && (digits > 1
            || digits == 1
                && (has_sign || long || has_mixed_case(value) && !value.ends_with(|c: char| c.is_ascii_digit())))
        && !(numbered || version || file || value.starts_with('-'))
}

/// Whether there are single small letters between capitals, or several capitals before a small letter, which does not
/// occur in words and in names in code.
pub(crate) fn has_mixed_case(value: &str) -> bool {
    if value.len() < 8 || !value.is_ascii() {
        return false;
    }
    let bytes = value.as_bytes();
    let capital = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let small = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
    let single = |at: usize| {
        let before = at.checked_sub(1);
        small(at) && !small(at + 1) && !before.is_some_and(small) && (capital(at + 1) || before.is_some_and(capital))
    };
    let after_capitals = |at: usize| at > 1 && small(at) && capital(at - 1) && capital(at - 2);
    (0..bytes.len()).map(|at| usize::from(single(at)) + usize::from(after_capitals(at))).sum::<usize>() > 1
}

/// Whether a long value has a capital after a small letter.
pub(crate) fn has_inner_capital(value: &str) -> bool {
    value.len() >= 8
        && value
            .as_bytes()
            .windows(2)
            .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
            .count()
            >= 1
}

/// Whether the value is a quantity, an algorithm or an encoding: `8-character`, `256-bit`, `sha256`, `utf8`.
pub(crate) fn is_measure(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let rest = lower.trim_start_matches(|c: char| c.is_ascii_digit() || "+-–.".contains(c));
    let quantity = rest.len() < lower.len()
        && password::MEASURE_UNITS
            .iter()
            .any(|unit| rest.starts_with(unit) && (unit.len() > 2 || rest.len() == unit.len()));
    const ALGORITHMS: &[&str] = &[
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
    quantity || ALGORITHMS.iter().any(|name| lower.starts_with(name))
}

/// Whether the value is a passphrase of several words, and not a sentence about one.
pub(crate) fn is_passphrase(value: &str) -> bool {
    let words: Vec<String> = value.split_whitespace().map(str::to_lowercase).collect();
    let about = words.iter().any(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        password::NAMES.contains(&bare) || password::MESSAGE_WORDS.contains(&bare)
    });
    (2..=10).contains(&words.len())
        && !about
        && (words.len() >= 3 || is_strong(value))
        && !value.ends_with(['.', ':', '?'])
}

/// Whether the value is a word of ordinary sentences about passwords, such as "required", "wrong" or "now".
pub(crate) fn is_ordinary_word(value: &str) -> bool {
    let lower = value.to_lowercase();
    let bare = lower.trim_end_matches(['.', ',', '!', '?', ':', ';']);
    password::NOT_VALUES.contains(&bare)
        || password::NAMES.contains(&bare)
        || password::FILLERS.contains(&bare) && bare != "nu"
}

/// Whether the value is code: a call, a member, an index, a module path or a word with underscores.
pub(crate) fn is_code(value: &str) -> bool {
    let identifier = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !part.as_bytes()[0].is_ascii_digit()
    };
    // The closing bracket is missing if a call was cut at a comma.
    let call = value.find('(').is_some_and(|at| {
        identifier(value[..at].trim_end_matches('!').rsplit(['.', ':']).next().unwrap_or(""))
            && (value.ends_with([')', '(']) || !value.contains(')'))
            || value.ends_with("()")
    });
    let array = value.strip_prefix('[').is_some_and(identifier) || value.contains("![");
    let member = value.contains('.')
        && value.split('.').all(|part| identifier(part) && part.bytes().all(|b| !b.is_ascii_digit()));
    // In Perl, PHP and Ruby, variables are written `$name` and `@name`.
    let variable = |part: &str| identifier(part.trim_start_matches(['$', '@', '&']));
    let index =
        value.find('[').is_some_and(|at| variable(&value[..at]) && (value.ends_with(']') || value.ends_with('[')));
    let snake = value.contains('_')
        && !has_mixed_case(value)
        && identifier(value)
        && value.bytes().all(|b| !b.is_ascii_digit());
    let arrow = value.contains("=>") || value.contains("->") || value.contains("::") || value == "{" || value == "[";
    let named = identifier(value)
        && {
            let l = value.to_ascii_lowercase();
            l.contains("password") || l.contains("passwd") || l.starts_with("pass") || l.starts_with("pwd")
        }
        && value.bytes().filter(u8::is_ascii_digit).count() < 2;
    let pointer = value.strip_prefix('*').is_some_and(identifier);
    call || array || member || index || snake || arrow || named || pointer || is_literal(value)
}

/// Whether the value is a name in a program, such as `not_for_passphrase`.
pub(crate) fn is_label(value: &str) -> bool {
    value.contains('_') && value.contains("pass") && value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// Whether the value is a number in code: `2966u32`, `0x00B4`, `0x46ce_f267`.
fn is_literal(value: &str) -> bool {
    let digits = |part: &str, hex: bool| {
        !part.is_empty() && part.bytes().all(|b| b == b'_' || b.is_ascii_digit() || hex && b.is_ascii_hexdigit())
    };
    let typed = value.rfind(['u', 'i', 'f']).is_some_and(|at| {
        matches!(&value[at + 1..], "8" | "16" | "32" | "64" | "128" | "size") && digits(&value[..at], false)
    });
    typed || value.strip_prefix("0x").is_some_and(|rest| digits(rest, true))
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

/// Whether the value is a hashed password, which is not reported.
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
