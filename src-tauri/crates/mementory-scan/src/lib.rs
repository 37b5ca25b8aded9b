//! Finds sensitive values in a text. Pure: a text in, byte ranges out; no I/O, no state, no panic.
//!
//! One pass looks for a few hundred words and key prefixes at once, one for digits, one for `@`. Only where
//! something was seen does a detector look closer, and never further than a fixed distance, so the time grows
//! with the length of the text and nothing else. See README.md for what is found and what is not.
mod card;
mod context;
mod context_words;
mod digits;
mod email;
mod entropy;
mod iban;
mod literals;
mod national;
mod password;
mod password_sentence;
mod password_value;
mod password_words;
mod phone;
mod placeholder;
mod private_key;
mod resolve;
mod secret;
mod secret_words;
mod token_formats;
mod url;
mod value;

use context::Doc;
use literals::Tag;

/// Changes when the rules do: what was found by other rules is to be looked for again.
pub const RULES: u32 = 1;

/// What kind of value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// API keys, tokens, other machine credentials.
    AccessKey,
    /// PEM blocks and other private keys.
    PrivateKey,
    /// Passwords and passphrases that a person or a program types.
    Password,
    /// Payment card numbers.
    Card,
    /// International bank account numbers (ISO 13616).
    Iban,
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// Personal numbers that a state gives out.
    NationalId,
}

impl Class {
    /// Every class, in the order of the enum.
    pub const ALL: [Class; 8] = [
        Class::AccessKey,
        Class::PrivateKey,
        Class::Password,
        Class::Card,
        Class::Iban,
        Class::Email,
        Class::Phone,
        Class::NationalId,
    ];

    /// The word used in JSON and in `[REDACTED:word]`.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::AccessKey => "access_key",
            Class::PrivateKey => "private_key",
            Class::Password => "password",
            Class::Card => "card",
            Class::Iban => "iban",
            Class::Email => "email",
            Class::Phone => "phone",
            Class::NationalId => "national_id",
        }
    }

    /// The class of a word from [`Class::as_str`]; `None` for any other.
    pub fn parse(word: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.as_str() == word)
    }
}

/// How sure a detector is. Ordered: the later, the surer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// The words around it say so, the value alone does not.
    Possible,
    /// Shape and surroundings agree.
    Likely,
    /// The value proves itself: a known prefix, a check digit, a format used for nothing else.
    VeryLikely,
}

impl Confidence {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Confidence::Possible => "possible",
            Confidence::Likely => "likely",
            Confidence::VeryLikely => "very_likely",
        }
    }
}

/// Where a sensitive value lies. It never holds the value itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub class: Class,
    /// Which rule found it, such as `aws_access_key_id` or `luhn`.
    pub detector: &'static str,
    /// First byte of the value in the text.
    pub start: usize,
    /// One past its last byte. Both ends lie on character boundaries.
    pub end: usize,
    /// How sure the rule is.
    pub confidence: Confidence,
}

/// Finds sensitive values in `text`.
///
/// Returns the findings in order of their place, none overlapping another: of two that do, the more certain stays,
/// then the longer. Takes time in proportion to the length of the text and never fails.
pub fn scan(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut doc = Doc::new(text);
    let mut names = Vec::new();
    let mut done = 0;
    for (tag, start, end) in literals::hits(text) {
        match tag {
            Tag::Context(bits) => doc.push(start, end, bits),
            // Inside a token already taken, no other rule starts.
            _ if start < done => {}
            Tag::Shape(index) => {
                if let Some(finding) = token_formats::at(&doc, index, start) {
                    done = finding.end;
                    found.push(finding);
                    token_formats::companion(&doc, &finding, &mut found);
                } else if token_formats::SHAPES[index].is_name() {
                    names.push((Tag::Secret, start, start + 3));
                }
            }
            Tag::Private => {
                if let Some(finding) = private_key::at(text, start) {
                    done = finding.end;
                    found.push(finding);
                }
            }
            Tag::Url => found.extend(url::at(text, start, end)),
            Tag::Bearer | Tag::Secret | Tag::Password | Tag::Command => names.push((tag, start, end)),
        }
    }
    for (tag, start, end) in names {
        match tag {
            Tag::Bearer => found.extend(secret::bearer(text, end)),
            Tag::Secret => found.extend(secret::at(text, start, end)),
            Tag::Command => found.extend(password::command(text, start, end)),
            _ => found.extend(password::at(text, start, end)),
        }
    }
    email::find(text, &mut found);
    digits::find(&doc, &mut found);
    resolve::resolve(found)
}
