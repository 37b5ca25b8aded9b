//! Finds sensitive values in a text. The functions take a text and return byte ranges. They do no I/O, keep no state,
//! and never panic.
//!
//! One pass over the text searches for names, context words and key prefixes, a second for `@`, and a third for digits.
//! At each hit, a detector examines the text around it up to a fixed distance, so the time is proportional to the
//! length of the text. README.md lists what is found and what is not.
mod card;
mod context;
mod digits;
mod email;
mod entropy;
mod iban;
mod literals;
mod national;
mod numbers;
mod password;
mod password_sentence;
mod password_value;
mod phone;
mod placeholder;
mod prefix_filter;
mod private_key;
mod resolve;
mod secret;
mod token_formats;
mod url;
mod value;
mod word_lists;

use context::Doc;
use literals::{LiteralKind, LiteralSet};
pub use token_formats::{PrefixEvidence, token_prefix};

/// Version of the detection rules. Texts that were scanned with a different version are scanned again.
pub const RULES: u32 = 2;

/// Class of a found value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// API keys, tokens and other credentials of programs.
    AccessKey,
    /// PEM blocks and other private keys.
    PrivateKey,
    /// Passwords and passphrases.
    Password,
    /// Payment card numbers.
    Card,
    /// International bank account numbers (ISO 13616).
    Iban,
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// National ids: personal numbers issued by a state.
    NationalId,
    /// An unencrypted secret in a credential record. Detected in the members of the record, not in its text, so
    /// [`scan`] never returns this class.
    StoredSecret,
}

impl Class {
    /// Every class, in the order of the enum.
    pub const ALL: [Class; 9] = [
        Class::AccessKey,
        Class::PrivateKey,
        Class::Password,
        Class::Card,
        Class::Iban,
        Class::Email,
        Class::Phone,
        Class::NationalId,
        Class::StoredSecret,
    ];

    /// The classes that [`scan`] finds in a text.
    pub const IN_TEXT: [Class; 8] = [
        Class::AccessKey,
        Class::PrivateKey,
        Class::Password,
        Class::Card,
        Class::Iban,
        Class::Email,
        Class::Phone,
        Class::NationalId,
    ];

    /// The name used in JSON and in `[REDACTED:name]`.
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
            Class::StoredSecret => "stored_secret",
        }
    }

    /// The class with this name, as returned by [`Class::as_str`]. `None` for any other text.
    pub fn parse(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.as_str() == name)
    }
}

/// Certainty of a detector, from least to most certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Only the words around the value indicate it.
    Possible,
    /// Both the format of the value and the surrounding words indicate it.
    Likely,
    /// The value alone is sufficient evidence (a known prefix, a check digit, a unique format), or its name alone is.
    VeryLikely,
}

impl Confidence {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Confidence::Possible => "possible",
            Confidence::Likely => "likely",
            Confidence::VeryLikely => "very_likely",
        }
    }
}

/// Position of a sensitive value in a text. A `Finding` does not contain the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// Class of the value.
    pub class: Class,
    /// Name of the rule that found the value, such as `aws_access_key_id` or `luhn`.
    pub detector: &'static str,
    /// Position of the first byte of the value in the text.
    pub start: usize,
    /// Position after the last byte of the value. Both positions are on character boundaries.
    pub end: usize,
    /// Certainty of the rule that found the value.
    pub confidence: Confidence,
}

/// Finds sensitive values in `text`.
///
/// Returns the findings in text order. If two overlap, only the one with the higher confidence is returned, or, if they
/// are equally confident, the longer one. The time is proportional to the length of the text.
pub fn scan(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let doc = find_at_literals(text, LiteralSet::All, &mut findings);
    email::find_addresses(text, &mut findings);
    numbers::find_numbers(&doc, &mut findings);
    resolve::resolve_overlaps(findings)
}

/// Finds only access keys and private keys that are [very likely](Confidence::VeryLikely). This is faster than
/// [`scan`].
pub fn scan_keys(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    find_at_literals(text, LiteralSet::Keys, &mut findings);
    let mut findings = resolve::resolve_overlaps(findings);
    findings.retain(|found| {
        matches!(found.class, Class::AccessKey | Class::PrivateKey) && found.confidence == Confidence::VeryLikely
    });
    findings
}

/// Examines the text at each literal of the set. Returns the text with its context words. If the set is
/// [`LiteralSet::Keys`], only keys and tokens are found, and not those that are merely [likely](Confidence::Likely).
fn find_at_literals<'t>(text: &'t str, set: LiteralSet, findings: &mut Vec<Finding>) -> Doc<'t> {
    let only_keys = set == LiteralSet::Keys;
    let mut doc = Doc::new(text);
    let mut names = Vec::new();
    let mut token_end = 0;
    for (tag, start, end) in literals::find_literals(text, set) {
        match tag {
            LiteralKind::Context(bits) => doc.add_word(start, end, bits),
            // Nothing else is searched for inside a token that was already found.
            _ if start < token_end => {}
            LiteralKind::Token(index) => {
                if let Some(finding) = token_formats::token_at(&doc, index, start) {
                    token_end = finding.end;
                    findings.push(finding);
                    token_formats::find_aws_secret_near(&doc, &finding, findings);
                } else if token_formats::TOKEN_FORMATS[index].is_name() {
                    names.push((LiteralKind::Secret, start, start + 3));
                }
            }
            LiteralKind::PrivateKey => {
                if let Some(finding) = private_key::private_key_at(text, start) {
                    token_end = finding.end;
                    findings.push(finding);
                }
            }
            LiteralKind::Url => findings.extend(url::password_at(text, start, end)),
            LiteralKind::Password | LiteralKind::Command if only_keys => {}
            LiteralKind::Bearer | LiteralKind::Secret | LiteralKind::Password | LiteralKind::Command => {
                names.push((tag, start, end))
            }
        }
    }
    for (tag, start, end) in names {
        match tag {
            LiteralKind::Bearer => findings.extend(secret::token_after_scheme(text, end)),
            LiteralKind::Secret => findings.extend(secret::secret_for_name(text, start, end, only_keys)),
            LiteralKind::Command => findings.extend(password::password_on_command_line(text, start, end)),
            _ => findings.extend(password::password_for_name(text, start, end)),
        }
    }
    doc
}
