//! Composes the set of labelled texts from sentences, files and documents. About half of them contain sensitive values;
//! the others contain only decoys, or neither.
//!
//! Left out, because people would disagree on the label: test keys and publishable keys of payment providers, webhook
//! addresses, account ids, session cookies and CSRF tokens, `Basic` headers, UUIDs as keys, age identities, product
//! keys, password hashes, the passwords "password", "secret" and "changeme", addresses of offices (info@, noreply@),
//! host names that look like addresses (backup@nas.internal), sample IBANs in documentation, service and emergency
//! numbers, national telephone numbers without a word like “phone”, company and VAT numbers, passports and driving
//! licences, dates of birth, and keys that were cut off before their END line.
use super::forms_config::{CONFIG_FORMS, Form};
use super::{forms_code::CODE_FORMS, forms_documents::DOCUMENT_FORMS, forms_shell::SHELL_FORMS};
use super::{prose, prose::Lang, prose_east as east, prose_memory::MEMORY, prose_south as south, prose_west as west};
use super::{rng::Rng, text::LabelledText, text::Text, text::pick_template_with};
use mementory_scan::Class;

pub const LANGUAGES: &[&Lang] = &[
    &prose::ENGLISH,
    &west::GERMAN,
    &south::SPANISH,
    &south::FRENCH,
    &south::ITALIAN,
    &south::PORTUGUESE,
    &west::DUTCH,
    &east::POLISH,
    &west::SWEDISH,
    &east::JAPANESE,
    &east::CHINESE,
    &east::TURKISH,
    &east::OTHERS,
    &MEMORY,
];

/// Private keys the way people paste them into a chat, in any language.
const KEY_PASTES: &[&str] =
    &["⟨pem⟩\n", "```\n⟨pem⟩\n```\n", "id_rsa:\n⟨pem⟩\n", "~/.ssh/id_ed25519\n\n⟨pem⟩\n", "server.key\n⟨pem⟩\n"];
/// Blocks and sentences that contain no private key.
const PUBLIC_PASTES: &[&str] = &[
    "server.crt:\n⟨public⟩\n",
    "⟨public⟩\n",
    "id_ed25519.pub:\n⟨sshpub⟩ deploy\n",
    "The file has to begin with -----BEGIN PRIVATE KEY-----, doesn't it?\n",
    "Replace this by your own key:\n-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
    "```\n<img src=\"data:image/png;base64,iVBORw0KGgo⟨bigbase64⟩\">\n```\n",
];
const MIN_TEXT_CHARS: usize = 40;
const MAX_TEXT_BYTES: usize = 4096;

/// Generates `count` texts. The same seed produces the same texts.
pub fn generate(seed: u64, count: usize) -> Vec<LabelledText> {
    (0..count as u64).map(|index| generate_text(&mut Rng::new(seed, index))).collect()
}

fn generate_text(rng: &mut Rng) -> LabelledText {
    loop {
        let sample = build_text(rng);
        if sample.text.chars().count() >= MIN_TEXT_CHARS && sample.text.len() <= MAX_TEXT_BYTES {
            return sample;
        }
    }
}

fn build_text(rng: &mut Rng) -> LabelledText {
    let has_values = rng.chance(52); // More than half, because too short or too long texts are discarded.
    let mut text = Text::default();
    let kind = match rng.below(100) {
        0..=47 => {
            let lang = random_language(rng);
            write_chat(rng, &mut text, lang, has_values);
            format!("chat {}", lang.code)
        }
        48..=55 => {
            // A question, and below it the file to which the question refers.
            let lang = random_language(rng);
            let question = rng.pick(lang.filler);
            text.write(rng, question);
            text.text.push_str("\n\n```");
            let form = random_form(rng);
            // A code fence around a document names no language.
            let is_document = DOCUMENT_FORMS.iter().any(|document| document.kind == form.kind);
            text.text.push_str(if is_document { "" } else { form.kind });
            text.text.push('\n');
            write_form(rng, &mut text, form, has_values);
            text.text.push_str("\n```");
            format!("chat {} {}", lang.code, form.kind)
        }
        _ => {
            let form = random_form(rng);
            write_form(rng, &mut text, form, has_values);
            form.kind.to_owned()
        }
    };
    text.into_labelled(&kind)
}

fn random_language(rng: &mut Rng) -> &'static Lang {
    if rng.chance(20) { LANGUAGES[0] } else { LANGUAGES[rng.below(LANGUAGES.len())] }
}

fn random_form(rng: &mut Rng) -> &'static Form {
    let group = [CONFIG_FORMS, SHELL_FORMS, CODE_FORMS, DOCUMENT_FORMS, DOCUMENT_FORMS][rng.below(5)];
    &group[rng.below(group.len())]
}

/// A template that contains a value of a random class. National ids are chosen twice as often as other classes, because
/// there are many kinds of them but few templates.
fn template_with_value<'a>(rng: &mut Rng, templates: &[&'a str]) -> &'a str {
    loop {
        let class = match rng.below(9) {
            0 => Class::NationalId,
            n => Class::IN_TEXT[n - 1],
        };
        if let Some(template) = pick_template_with(rng, templates, class) {
            return template;
        }
    }
}

/// At most `count` of the templates in random order, each only once.
fn random_choice<'a>(rng: &mut Rng, templates: &[&'a str], count: usize) -> Vec<&'a str> {
    let mut all = templates.to_vec();
    rng.shuffle(&mut all);
    all.truncate(count);
    all
}

/// Writes sentences in one language in random order. A sentence without punctuation at its end is followed by a new
/// line.
fn write_chat(rng: &mut Rng, text: &mut Text, lang: &Lang, has_values: bool) {
    let length_factor = if rng.chance(12) { 8 } else { 1 };
    let mut parts: Vec<&str> = Vec::new();
    let fillers = rng.below(4) * length_factor;
    parts.extend(random_choice(rng, lang.filler, fillers));
    let decoys = (if has_values { rng.below(3) } else { rng.below(4) }) * length_factor;
    parts.extend(random_choice(rng, lang.with_decoys, decoys));
    if has_values {
        for _ in 0..rng.range(1, 3) {
            let is_paste = rng.chance(11);
            parts.push(if is_paste { rng.pick(KEY_PASTES) } else { template_with_value(rng, lang.with_values) });
        }
    } else if rng.chance(10) {
        parts.push(rng.pick(PUBLIC_PASTES));
    }
    rng.shuffle(&mut parts);
    let separator = ["\n", " ", " ", "\n\n"][rng.below(4)];
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            let is_line_open = text.text.ends_with(|c: char| c.is_alphanumeric() || c == ')');
            let needs_new_line = is_line_open || part.starts_with('⟨') || part.contains("```");
            text.text.push_str(if needs_new_line { "\n" } else { separator });
        }
        text.write(rng, part);
    }
}

/// Writes a file or document: its lines in random order between its first and last lines.
fn write_form(rng: &mut Rng, text: &mut Text, form: &Form, has_values: bool) {
    let length_factor = if rng.chance(12) { 5 } else { 1 };
    let mut lines: Vec<&str> = Vec::new();
    for _ in 0..rng.range(1, 6) as usize * length_factor {
        let line = rng.pick(form.neutral);
        // A line without slots is always the same, so it is used only once.
        if line.contains('⟨') || !lines.contains(&line) {
            lines.push(line);
        }
    }
    let decoys = (if has_values { rng.below(4) } else { rng.below(6) }) * length_factor.min(2);
    lines.extend(random_choice(rng, form.with_decoys, decoys));
    if has_values {
        lines.extend((0..rng.range(1, 4)).map(|_| template_with_value(rng, form.with_values)));
    }
    rng.shuffle(&mut lines);
    text.write(rng, form.open);
    for (index, line) in lines.iter().enumerate() {
        text.text.push_str(if index > 0 { "\n" } else { "" });
        text.write(rng, line);
    }
    text.write(rng, form.close);
}
