//! A small random number generator with a seed (splitmix64), and patterns for generated values.

/// Splitmix64. The same seed produces the same texts on every computer.
pub struct Rng(u64);

impl Rng {
    /// The generator for the text `index` of the set `seed`. Each text has its own generator, so that a new template
    /// changes only a few texts.
    pub fn new(seed: u64, index: u64) -> Self {
        let mut rng = Self(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        rng.next();
        rng
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`. The remainder is slightly biased, which does not matter because `n` is small.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }

    /// `n` random characters of an alphabet. The last one is a letter or a digit, because otherwise it would be unclear
    /// where the token ends.
    pub fn random_text(&mut self, alphabet: &str, n: usize) -> String {
        let alphabet_chars: Vec<char> = alphabet.chars().collect();
        let mut text: String = (0..n).map(|_| alphabet_chars[self.below(alphabet_chars.len())]).collect();
        while text.chars().last().is_some_and(|c| !c.is_alphanumeric()) {
            text.pop();
            text.push(alphabet_chars[self.below(alphabet_chars.len())]);
        }
        text
    }

    pub fn digits(&mut self, n: usize) -> String {
        self.random_text(DIGITS, n)
    }

    /// `n` random digits.
    pub fn random_digits(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| self.below(10) as u32).collect()
    }

    /// Generates a text from a pattern: `[hex:32]` becomes 32 characters of the alphabet `hex`, and `[=a|b]` becomes
    /// one of the choices.
    pub fn pattern(&mut self, pattern: &str) -> String {
        let mut out = String::new();
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('[') {
            let (inner, after) = after.split_once(']').expect("a pattern closes its brackets");
            out.push_str(before);
            rest = after;
            if let Some(choices) = inner.strip_prefix('=') {
                let choices: Vec<&str> = choices.split('|').collect();
                out.push_str(choices[self.below(choices.len())]);
            } else {
                let (name, count) = inner.split_once(':').expect("an alphabet and a count");
                out.push_str(&self.random_text(alphabet(name), count.parse().expect("a count")));
            }
        }
        out + rest
    }
}

pub const DIGITS: &str = "0123456789";
pub const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn alphabet(name: &str) -> &'static str {
    match name {
        "dig" => DIGITS,
        "d19" => "123456789",
        "d29" => "23456789",
        "hex" => "0123456789abcdef",
        "HEX" => "0123456789ABCDEF",
        "b32" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "crock" => "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
        "low" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "let" => "abcdefghijklmnopqrstuvwxyz",
        "LET" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "alpha" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "up" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "b62" => BASE62,
        "b64" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "url" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        other => panic!("no alphabet {other}"),
    }
}
