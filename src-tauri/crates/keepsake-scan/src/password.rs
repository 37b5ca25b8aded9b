//! Passwords: assigned to a name, said in a sentence, given to a program.
use crate::password_words::{GLUED, IS, NAMES, NOT, PROSE, STILL, TERSE};
use crate::placeholder::is_placeholder;
use crate::value::{Join, Value, after_name, blanks, name_around, read};
use crate::{Class, Confidence, Finding};

fn finding(detector: &'static str, value: (usize, usize), confidence: Confidence) -> Finding {
    Finding { class: Class::Password, detector, start: value.0, end: value.1, confidence }
}

/// The password given to the name around `start..end`.
pub(crate) fn at(text: &str, start: usize, end: usize) -> Option<Finding> {
    let word = &text[start..end];
    let terse = TERSE.iter().any(|name| word.eq_ignore_ascii_case(name));
    let (from, to) = if word.is_ascii() { name_around(text, start, end) } else { (start, tail(text, end)) };
    let bytes = text.as_bytes();
    // "bypass", "compass": the word must begin here, or after a mark, or as a hump.
    let glued = start > 0 && bytes[start - 1].is_ascii_alphabetic();
    let hump = glued && bytes[start].is_ascii_uppercase() && bytes[start - 1].is_ascii_lowercase();
    let shout = glued && !terse && bytes[from..to].iter().all(|b| !b.is_ascii_lowercase());
    let root = ["db", "my", "user", "root", "admin", "wifi", "wlan", "smtp", "ftp", "vpn", "app"];
    let known = glued && root.iter().any(|root| text[from..start].eq_ignore_ascii_case(root));
    let joined = glued && !terse && word.len() > 6 && (from == start || !text[from..start].contains('-'));
    if glued && !hump && !shout && !known && !joined {
        return None;
    }
    let after = &text[end..to];
    if !after.is_empty() && !plain_tail(after, terse) {
        return None;
    }
    // "clave API": a key, not a password.
    let next = text[to..].trim_start_matches([' ', '_']).trim_start_matches("de ").trim_start_matches("de la ");
    if terse && next.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("api")) {
        return crate::secret::at(text, start, end);
    }
    let before = text[from..start].to_ascii_lowercase();
    let last = before.trim_end_matches(['_', '-', '.']).rsplit(['_', '-', '.']).next().unwrap_or("");
    if NOT_BEFORE.contains(&last) {
        return None;
    }
    let option = before.starts_with("--") || before == "-";
    if let Some(value) = after_name(text, from, to) {
        let name = &text[from..to];
        if let Some(found) = assigned(text, name, &value, terse, option) {
            return Some(found);
        }
    }
    if terse && !matches!(word.to_ascii_lowercase().as_str(), "clave" | "pw" | "pwd" | "parola" | "pass" | "psk") {
        return None;
    }
    sentence(text, to, terse).or_else(|| backwards(text, from))
}

/// The inflected end of a name in another script: `пароля`, `şifresi`, `hasła`.
fn tail(text: &str, end: usize) -> usize {
    let rest = &text[end..];
    let suffix: usize = rest.chars().take_while(|c| c.is_alphabetic() && !GLUED.iter().any(|g| g.starts_with(*c))).take(6).map(char::len_utf8).sum();
    if text[..end].chars().next_back().is_some_and(|c| (c as u32) < 0x2E80) { end + suffix } else { end }
}

/// `password1`, `password_prod`, `passwordConfirmation`, but not `password_hash`.
fn plain_tail(after: &str, terse: bool) -> bool {
    let lower = after.to_ascii_lowercase();
    let marked = after.starts_with(|c: char| !c.is_ascii_lowercase());
    if !marked {
        // "passwords", "passwordless", "passing", "passport".
        return !terse && matches!(lower.as_str(), "s" | "e" | "er" | "ene" | "et" | "en" | "n");
    }
    !NOT.iter().any(|word| lower.trim_start_matches(['_', '-']).starts_with(word))
}

/// A value joined to the name by a mark.
fn assigned(text: &str, name: &str, value: &Value, terse: bool, option: bool) -> Option<Finding> {
    let (mut start, mut end) = (value.start, value.end);
    let mut inner = &text[start..end];
    if value.join == Join::Space && !value.quoted && !option {
        return None;
    }
    // In prose a stop or a question mark ends the sentence, not the password.
    if !value.quoted && value.join == Join::Colon && inner.ends_with('?') {
        end -= 1;
        inner = &text[start..end];
    }
    if let Some(plain) = inner.strip_prefix("{noop}").or_else(|| inner.strip_prefix("{plain}")) {
        start = end - plain.len();
        inner = plain;
    }
    let length = inner.chars().count();
    if length < 3 || length > 128 || is_placeholder(inner) || is_path(inner) || is_digest(inner) {
        return None;
    }
    if name.eq_ignore_ascii_case("pwd") && inner.starts_with(['/', '~', '\\']) {
        return None;
    }
    let sure = Some(finding("password_assignment", (start, end), Confidence::VeryLikely));
    if value.quoted {
        return match inner.contains(char::is_whitespace) {
            true => phrase(inner).then(|| finding("passphrase", (start, end), Confidence::Likely)),
            false if value.join == Join::Space => (strong(inner) || inner.len() >= 6 && !prose(inner)).then(|| finding("password_assignment", (start, end), Confidence::Likely)),
            false => (!prose(inner) && !(terse && inner.len() < 4)).then_some(sure).flatten(),
        };
    }
    // Code: a call, a member, a variable.
    if is_code(inner) {
        return None;
    }
    if strong(inner) && !measure(inner) {
        return sure;
    }
    let digits = inner.bytes().all(|b| b.is_ascii_digit());
    if digits {
        return (length >= 4 && !terse || length >= 6).then_some(sure).flatten();
    }
    // A bare word: only where it is all that the line has left, and where no code could stand.
    let shell = name.bytes().all(|b| !b.is_ascii_lowercase());
    let word = inner.bytes().all(|b| b.is_ascii_lowercase() || !b.is_ascii()) || shell || option;
    let bare = value.ends_line && word && length >= 5 && !prose(inner) && !inner.contains('_');
    let space = value.join != Join::Colon || !terse;
    (bare && space).then(|| finding("password_assignment", (start, end), Confidence::Likely))
}

/// "the password is X", "das Passwort für das WLAN lautet X", "パスワードはX".
fn sentence(text: &str, from: usize, terse: bool) -> Option<Finding> {
    let rest = &text[from..text.floor_char_boundary((from + 160).min(text.len()))];
    let rest = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let mut at = rest.len() - rest.trim_start_matches(['*', '"', '\'', '`', '»', '”', ')']).len();
    if let Some(mark) = GLUED.iter().find(|mark| rest[at..].starts_with(**mark)) {
        at += mark.len();
        at += blanks(rest.as_bytes(), at);
        at += rest[at..].strip_prefix(['：', ':']).map_or(0, |tail| rest[at..].len() - tail.len());
        let value = spoken(text, from + at)?;
        return accept_spoken(text, value, true);
    }
    let mut linked = false;
    let mut link_word = "";
    let mut colon = false;
    for count in 0..9 {
        at += blanks(rest.as_bytes(), at);
        let word_end = rest[at..].find([' ', '\t']).map_or(rest.len(), |n| at + n);
        let raw = &rest[at..word_end];
        if raw.is_empty() {
            return None;
        }
        let bare = raw.trim_matches(['"', '\'', '`', '(', ')', '*', ',']);
        let lower = bare.to_lowercase();
        let passing = linked && STILL.contains(&lower.as_str());
        if linked && !passing || raw.starts_with(['"', '`', '“', '„', '«']) && count > 0 {
            let value = spoken(text, from + at)?;
            let quoted_without_link = !linked && !colon;
            if quoted_without_link && !value.2 {
                return None;
            }
            return accept_spoken(text, value, !matches!(link_word, "a" | "on" | "er" | "to" | "per" | "por" | "à" | "-" | "–" | "—" | "auf" | "es") || value.2);
        }
        let head = lower.trim_end_matches([':', '：']);
        if IS.contains(&lower.as_str()) || lower.ends_with([':', '：']) && !lower.is_empty() {
            // "password policy is", "password length: 12": about the password, not the password itself.
            if lower.ends_with(':') && NOT.iter().any(|word| word.len() > 3 && head.starts_with(word)) {
                return None;
            }
            linked = true;
            colon = lower.ends_with(':');
            link_word = IS.iter().find(|word| **word == lower).copied().unwrap_or("");
        } else if !linked {
            let stop = raw.ends_with(['.', '!', '?', ';']) || count > 5 || NOT.iter().any(|word| word.len() > 3 && lower.starts_with(word));
            let negative = matches!(lower.as_str(), "and" | "or" | "und" | "oder" | "y" | "et" | "not" | "must" | "should" | "so" | "because" | "when" | "if" | "that");
            if stop || negative || terse && count > 3 {
                return None;
            }
        }
        at = word_end;
    }
    None
}

/// "use X as the password": the value stands before the name.
fn backwards(text: &str, from: usize) -> Option<Finding> {
    let floor = text.ceil_char_boundary(from.saturating_sub(80));
    let head = &text[floor..from];
    let head = &head[head.rfind('\n').map_or(0, |n| n + 1)..];
    let mut words: Vec<&str> = head.split_whitespace().collect();
    while words.last().is_some_and(|word| {
        ["the", "my", "a", "your", "our", "their", "das", "mein", "la", "mi", "contraseña", "le", "new", "wifi", "temporary", "admin", "root", "is", "ist", "es", "est"].contains(&word.to_lowercase().as_str())
    }) {
        let last = words.pop()?;
        if ["is", "ist", "es", "est"].contains(&last) {
            words.push("as");
            break;
        }
    }
    if !matches!(words.pop()?, "as" | "als" | "como" | "comme" | "come") {
        return None;
    }
    let raw = *words.last()?;
    let start = floor + text[floor..from].rfind(raw)?;
    let value = raw.trim_matches(['"', '\'', '`', ',', '(', ')', '“', '”']);
    let start = start + raw.find(value)?;
    let quoted = value.len() < raw.len();
    accept_spoken(text, (start, start + value.len(), quoted), false)
}

/// The value at `at` of a sentence: start, end, and whether it is quoted.
fn spoken(text: &str, at: usize) -> Option<(usize, usize, bool)> {
    let value = read(text, at, Join::Space)?;
    let (start, mut end) = (value.start, value.end);
    if !value.quoted {
        let word = &text[start..end];
        let cut = word.trim_end_matches(['?', ')', ',', '.', ';', '"', '»', '”', '。', '、', '」']);
        // Japanese, Korean and Chinese go on without a space.
        let cut = cut.find(|c: char| c as u32 >= 0x2E80).map_or(cut, |n| if n > 0 { &cut[..n] } else { cut });
        end = start + cut.len();
    }
    (start < end).then_some((start, end, value.quoted))
}

fn accept_spoken(text: &str, (start, end, quoted): (usize, usize, bool), clear: bool) -> Option<Finding> {
    let value = &text[start..end];
    let length = value.chars().count();
    if !(4..=80).contains(&length) || is_placeholder(value) || is_path(value) || is_digest(value) || prose(value) || measure(value) {
        return None;
    }
    if quoted {
        let fits = if value.contains(char::is_whitespace) { phrase(value) } else { clear || strong(value) };
        return fits.then(|| finding("password_sentence", (start, end), Confidence::Likely));
    }
    if value.contains("://") || is_code(value) && !strong(value) || value.contains('(') {
        return None;
    }
    let digits = value.bytes().all(|b| b.is_ascii_digit());
    let after = text[end..].trim_start_matches(' ');
    let unit = ["char", "bit", "digit", "byte", "zeichen", "day", "week", "month", "year", "time", "minute", "hour", "caract", "words", "letters", "stell", "attempts", "people", "users", "sites"].iter().any(|unit| after.starts_with(unit));
    let fits = if digits { clear && !unit } else { strong(value) && !unit || clear && camel(value) };
    fits.then(|| finding("password_sentence", (start, end), Confidence::Likely))
}

/// Letters with digits, or with marks that no word has.
fn strong(value: &str) -> bool {
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let marks = value.bytes().filter(|b| b"!@#$%^&*+=~?<>{}[]|;:".contains(b)).count();
    value.chars().count() >= 4 && (letters > 0 && digits > 0 || marks > 0 && letters + digits >= 3 && !(marks == 1 && value.ends_with(['!', '?', ':', ';']) && digits == 0) || digits >= 4 && value.contains(['-', '_', '.', '/']) && letters > 0)
}

/// A capital within a word.
fn camel(value: &str) -> bool {
    value.len() >= 8 && value.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count() >= 1
}

/// `8-character`, `256-bit`, `sha256`, `utf8`: letters and digits that say how, not what.
fn measure(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let rest = lower.trim_start_matches(|c: char| c.is_ascii_digit() || "+-–.".contains(c));
    const UNITS: &[&str] = &["char", "digit", "bit", "byte", "zeichen", "stellig", "caract", "word", "letter", "day", "min", "hour", "x", "st", "nd", "rd", "th", "days", "pm", "am", "kb", "mb", "wörter", "lettres", "teken"];
    let counted = rest.len() < lower.len() && UNITS.iter().any(|unit| rest.starts_with(unit) && (unit.len() > 2 || rest.len() == unit.len()));
    const HOW: &[&str] = &["base64", "sha1", "sha2", "sha-", "sha5", "md5", "bcrypt", "utf-8", "utf8", "argon2", "aes", "rsa", "pbkdf2", "oauth2", "http", "ascii", "scrypt", "2fa", "1password", "ntlm", "case-"];
    counted || HOW.iter().any(|how| lower.starts_with(how))
}

/// A passphrase of several words, not a sentence about one.
fn phrase(value: &str) -> bool {
    let words: Vec<String> = value.split_whitespace().map(str::to_lowercase).collect();
    let about = words.iter().any(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        NAMES.contains(&bare) || ABOUT.contains(&bare)
    });
    (2..=10).contains(&words.len()) && !about && (words.len() >= 3 || strong(value)) && !value.ends_with(['.', ':', '?'])
}

fn prose(value: &str) -> bool {
    let lower = value.to_lowercase();
    let bare = lower.trim_end_matches(['.', ',', '!', '?', ':', ';']);
    PROSE.contains(&bare) || NAMES.contains(&bare) || STILL.contains(&bare) && bare != "nu"
}

/// A call, a member, an index, a path of a module, a word with underscores.
fn is_code(value: &str) -> bool {
    let identifier = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !part.as_bytes()[0].is_ascii_digit();
    let call = value.find('(').is_some_and(|at| identifier(value[..at].rsplit(['.', ':']).next().unwrap_or("")) && (value.ends_with(')') || value.ends_with('(')) || value.ends_with("()"));
    let member = value.contains('.') && value.split('.').all(|part| identifier(part) && part.bytes().all(|b| !b.is_ascii_digit()));
    let index = value.find('[').is_some_and(|at| identifier(&value[..at]) && (value.ends_with(']') || value.ends_with('[')));
    let snake = value.contains('_') && identifier(value) && value.bytes().all(|b| !b.is_ascii_digit()) ;
    let arrow = value.contains("=>") || value.contains("->") || value.contains("::") || value == "{" || value == "[";
    let named = identifier(value) && { let l = value.to_ascii_lowercase(); l.contains("password") || l.contains("passwd") || l.starts_with("pass") || l.starts_with("pwd") } && value.bytes().filter(u8::is_ascii_digit).count() < 2;
    call || member || index || snake || arrow || named
}

fn is_path(value: &str) -> bool {
    value.starts_with("./") || value.starts_with("../") || value.starts_with("~/") || value.starts_with("C:\\") || value.contains("://")
        || value.starts_with('/') && value[1..].contains('/') && value.len() > 5
}

/// What a name begins with when it is about a password.
const NOT_BEFORE: &[&str] =
    &["hashed", "encrypted", "no", "forgot", "reset", "invalid", "wrong", "min", "max", "has", "is", "use", "show", "hide", "enable", "hash", "check", "validate", "verify", "generate", "random"];

/// Words of sentences about passwords, such as forms show them.
const ABOUT: &[&str] = &[
    "your", "please", "enter", "must", "should", "is", "the", "required", "invalid", "incorrect", "wrong", "forgot", "reset", "confirm", "choose", "create", "change", "with", "for", "to", "or", "cannot", "new",
    "minimum", "least", "characters", "repeat", "again", "type", "here", "see", "bitte", "ihr", "dein", "eingeben", "introduce", "introduzca", "tu", "votre", "saisissez", "show", "hide", "doesn't", "don't", "not", "are", "has", "been",
];

/// A password that was hashed is none any more.
fn is_digest(value: &str) -> bool {
    ["$2a$", "$2b$", "$2y$", "$argon2", "$6$", "$5$", "$1$", "{SSHA}", "{SHA}", "pbkdf2", "scrypt:", "sha256:", "sha256$", "md5:"].iter().any(|start| value.starts_with(start))
        || matches!(value.len(), 32 | 40 | 64 | 128) && crate::entropy::is_hex(value)
        || crate::entropy::is_uuid(value)
}

/// A password on a command line: `mysql -pX`, `sshpass -p X`, `curl -u name:X`, `IDENTIFIED BY 'X'`.
pub(crate) fn command(text: &str, start: usize, end: usize) -> Option<Finding> {
    let name = text[start..end].to_ascii_lowercase();
    let line = &text[end..text.floor_char_boundary((end + 300).min(text.len()))];
    let line = &line[..line.find('\n').unwrap_or(line.len())];
    let take = |at: usize| read(text, at, Join::Space).map(|value| (value.start, value.end, value.quoted));
    let (from, to, _) = match name.trim_end() {
        "identified by" => take(end + blanks(text.as_bytes(), end)).filter(|value| value.2)?,
        "sshpass -p" => take(end + blanks(text.as_bytes(), end))?,
        "curl" | "wget" => {
            let option = ["-u ", "--user ", "--user="].iter().filter_map(|o| option_end(line, o)).min()?;
            let (from, to, quoted) = take(end + option + blanks(line.as_bytes(), option))?;
            let colon = text[from..to].find(':')?;
            (from + colon + 1, to, quoted)
        }
        "docker login" => take(end + option_end(line, "-p ")?)?,
        "redis-cli" => take(end + option_end(line, "-a ")?)?,
        // -pX without a space; -p alone asks for it.
        _ => take(end + option_end(line, "-p")?).filter(|(from, ..)| text.as_bytes().get(from - 1) != Some(&b' '))?,
    };
    let value = &text[from..to];
    (value.len() >= 3 && !is_placeholder(value) && !value.starts_with('-') && !(value.starts_with('$') && !strong(value)))
        .then(|| finding("command_line", (from, to), Confidence::VeryLikely))
}

/// Where the value of an option begins, the option standing as a word of its own.
fn option_end(line: &str, option: &str) -> Option<usize> {
    let at = if line.starts_with(option) { Some(0) } else { None };
    let at = at.or_else(|| line.match_indices(option).map(|(at, _)| at).find(|at| *at > 0 && line.as_bytes()[at - 1] == b' '))?;
    let end = at + option.len();
    line.as_bytes().get(end).filter(|b| !b.is_ascii_whitespace() || option.ends_with(' ')).map(|_| end)
}
