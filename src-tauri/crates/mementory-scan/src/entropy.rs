//! Decides whether a string looks random.

/// How often the kind of character (small letter, capital, digit) changes, as a share of all pairs of adjacent letters
/// and digits. A capital followed by a small letter does not count, because words begin with a capital. The share is
/// about 0.45 in random base 62, 0.47 in random hexadecimal digits, 0.15 in `getUserToken2`, and 0 in words.
fn share_of_kind_changes(value: &str) -> f32 {
    let char_kind = |b: u8| match b {
        b'0'..=b'9' => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        _ => 0,
    };
    let (mut pairs, mut changes) = (0u32, 0u32);
    for pair in value.as_bytes().windows(2) {
        let (a, b) = (char_kind(pair[0]), char_kind(pair[1]));
        if a == 0 || b == 0 {
            continue;
        }
        pairs += 1;
        changes += u32::from(a != b && !(a == 3 && b == 2));
    }
    if pairs == 0 { 0.0 } else { changes as f32 / pairs as f32 }
}

/// Shannon entropy in bits per byte.
fn shannon_entropy(value: &str) -> f32 {
    let mut counts = [0u32; 256];
    for byte in value.bytes() {
        counts[byte as usize] += 1;
    }
    let total = value.len().max(1) as f32;
    counts.iter().filter(|n| **n > 0).map(|n| *n as f32 / total).map(|p| -p * p.log2()).sum()
}

/// Whether the value has only hexadecimal digits.
pub(crate) fn is_hex(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether the value is a UUID with hyphens.
pub(crate) fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value
            .bytes()
            .enumerate()
            .all(|(position, b)| if matches!(position, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() })
}

/// Length of the shortest value that can look random.
pub(crate) const MIN_RANDOM_BYTES: usize = 14;

/// Whether a value whose name suggests a secret looks random. If `has_clear_name` is true, the name can only mean a
/// secret, so a lower degree of randomness is enough.
pub(crate) fn is_random(value: &str, has_clear_name: bool) -> bool {
    let bytes = value.as_bytes();
    if bytes.len() < if has_clear_name { MIN_RANDOM_BYTES } else { 18 } || !value.is_ascii() {
        return false;
    }
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|b| b.is_ascii_alphabetic()).count();
    // Dates, versions and numbers with a unit have too few letters.
    if letters < 3 || digits * 10 > bytes.len() * 9 {
        return false;
    }
    let hex = is_hex(value);
    let (min_changes, min_entropy) = match (hex, has_clear_name) {
        // This minimum of kind changes is lower than the others, because about one in three hundred random values of 32
        // hexadecimal digits has only a few kind changes.
        (true, true) if bytes.len() >= 32 => (0.1, 2.9),
        (true, _) => (0.22, 2.9),
        (false, true) => (0.18, 3.1),
        (false, false) => (0.24, 3.4),
    };
    let changes = share_of_kind_changes(value);
    // A value without digits is accepted only if it is long and in mixed case, or if it passes the single-case check.
    if digits == 0 && (bytes.len() < 20 || changes < 0.2) {
        return is_random_single_case(bytes, has_clear_name);
    }
    changes >= min_changes && shannon_entropy(value) >= min_entropy || is_random_single_case(bytes, has_clear_name)
}

/// Whether a single-case value with a clear name looks random: it has at least 16 characters, all of them letters or
/// digits, with six consonants in a row and few vowels. Few words look like this.
fn is_random_single_case(bytes: &[u8], has_clear_name: bool) -> bool {
    if !has_clear_name || bytes.len() < 16 || !bytes.iter().all(u8::is_ascii_alphanumeric) {
        return false;
    }
    let is_vowel = |b: &u8| b"aeiouyAEIOUY".contains(b);
    let letters: Vec<&u8> = bytes.iter().filter(|b| b.is_ascii_alphabetic()).collect();
    let mut run = 0;
    let longest = letters.iter().fold(0, |best: i32, b| {
        run = if is_vowel(b) { 0 } else { run + 1 };
        best.max(run)
    });
    let vowel_count = letters.iter().filter(|b| is_vowel(b)).count();
    longest >= 6 && vowel_count * 100 < letters.len() * 33
}
