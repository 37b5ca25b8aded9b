//! A text prepared for comparison: its meaningful words in order, each with its kind.

/// The kind of a word, which decides how it is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// A word in a script with spaces between words.
    Word,
    /// The first word of a sentence, which is usually its subject or verb.
    SentenceStart,
    /// A capitalised word inside a sentence.
    Name,
    /// One character in a script without spaces.
    Char,
    /// An emoji. Two texts may be similar if one has an additional emoji, but not if one emoji replaces another.
    Emoji,
    /// A number, negation, relation or month, which both texts must have.
    Decisive,
}

/// One word of a [`Form`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// Hash of the folded word or of the word that represents it. Never stored.
    pub(crate) hash: u64,
    /// Byte offset of the word in the canonical text.
    pub(crate) at: u32,
    /// Length of the word in bytes.
    pub(crate) len: u32,
    pub(crate) kind: TokenKind,
    /// True if a comma, an "and" or the end of a sentence precedes the word.
    pub(crate) follows_separator: bool,
}

/// A text prepared for comparison. It contains the text's words and is therefore as confidential as the text.
#[derive(Clone)]
pub struct Form {
    pub(crate) canonical: String,
    pub(crate) tokens: Box<[Token]>,
    /// Indexes into `tokens`, sorted by hash.
    pub(crate) indices_by_hash: Box<[u32]>,
    /// The hashes of the tokens in the order of `indices_by_hash`. They suffice to reject most pairs of texts.
    pub(crate) hashes: Box<[u64]>,
    pub(crate) decisive_hash: u64,
    /// True if the text contains the Spanish "I" or "my". A verb that ends in o may then be in the first person.
    pub(crate) spanish_first_person: bool,
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Form({} words)", self.tokens.len())
    }
}

impl Form {
    /// True if the text has no letters, digits or meaningful signs.
    pub fn is_empty(&self) -> bool {
        self.canonical.is_empty()
    }

    /// The folded words with single spaces between them. Texts that are equal after folding have the same canonical
    /// text.
    pub(crate) fn canonical(&self) -> &str {
        &self.canonical
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    pub(crate) fn indices_by_hash(&self) -> &[u32] {
        &self.indices_by_hash
    }

    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Hash of all decisive words, independent of their order. Texts with different decisive words are never near.
    pub(crate) fn decisive_hash(&self) -> u64 {
        self.decisive_hash
    }

    /// The folded text of a word.
    pub(crate) fn word(&self, token: &Token) -> &str {
        self.canonical.get(token.at as usize..(token.at + token.len) as usize).unwrap_or_default()
    }

    /// Whether Spanish verbs in the text may be in the first person.
    pub(crate) fn has_spanish_first_person(&self) -> bool {
        self.spanish_first_person
    }

    /// The hashes of the words in order. They are equal for texts that only differ in filler words.
    pub(crate) fn word_hashes(&self) -> Vec<u64> {
        self.tokens.iter().map(|t| t.hash).collect()
    }

    /// Adopts the flags of `other`, and for each word the stricter of the two kinds. For example, names are compared
    /// more strictly than other words. The two texts must have the same words except for filler words.
    pub(crate) fn adopt_stricter_kinds(&mut self, other: &Form) {
        if self.tokens.len() == other.tokens.len() {
            for (mine, theirs) in self.tokens.iter_mut().zip(&other.tokens) {
                mine.kind = stricter_kind(mine.kind, theirs.kind);
                mine.follows_separator |= theirs.follows_separator;
            }
            self.spanish_first_person |= other.spanish_first_person;
        }
    }
}

fn stricter_kind(a: TokenKind, b: TokenKind) -> TokenKind {
    match (a, b) {
        (TokenKind::Name, TokenKind::Word | TokenKind::SentenceStart)
        | (TokenKind::Word | TokenKind::SentenceStart, TokenKind::Name) => TokenKind::Name,
        (TokenKind::SentenceStart, TokenKind::Word) | (TokenKind::Word, TokenKind::SentenceStart) => {
            TokenKind::SentenceStart
        }
        _ => a,
    }
}
