//! Every literal that starts a closer look, found in one pass over the text.
use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};

use crate::context::bits;
use crate::{national, password_words, shapes};

/// What a literal leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tag {
    /// A key of a known shape may start here: index into `shapes::SHAPES`.
    Shape(usize),
    /// A private key may start here.
    Private,
    /// `://`: credentials may follow.
    Url,
    /// A credential of an HTTP header may follow.
    Bearer,
    /// A name such as key, token or secret.
    Secret,
    /// A name such as password, in any language.
    Password,
    /// A program that takes a password as an option.
    Command,
    /// A word that says what a number near it is.
    Context(u64),
}

/// A literal and how it must stand in the text.
struct Word {
    tag: Tag,
    /// In exactly this case: short acronyms that are words of some language otherwise.
    exact: bool,
    /// Not within a longer word.
    alone: bool,
}

const SECRET: &[&str] = &[
    "key", "token", "secret", "credential", "auth", "jwt", "schlüssel", "clave", "llave", "chave",
    "clé", "jeton", "chiave", "sleutel", "klucz", "ключ", "токен", "密钥", "密鑰", "秘钥", "令牌", "キー", "トークン",
    "키", "토큰", "nyckel", "nøgle", "nøkkel", "avain", "anahtar",
];

const PHONE: &[&str] = &[
    "phone", "phones", "telephone", "tel", "tél", "tlf", "tfn", "mobile", "mobil", "cell", "cellphone", "cell phone",
    "phone_number", "phonenumber", "phoneNumber", "mobile_number", "mobileNumber", "contact number", "call", "call me",
    "called", "calling", "ring", "ring me", "dial", "text me", "texted", "sms", "fax", "telefax", "whatsapp", "signal",
    "viber", "telegram", "landline", "hotline", "helpline", "voicemail", "reach me", "callback", "handy", "handynummer",
    "telefon", "telefonnummer", "rufnummer", "mobilnummer", "mobilfunk", "festnetz", "anrufen", "ruf mich", "erreichbar", "ruf",
    "teléfono", "telefono", "telf", "móvil", "movil", "celular", "cel", "llámame", "llamame", "llama", "llamar", "llame",
    "téléphone", "portable", "appelle", "appelez", "appeler", "joignable", "cellulare", "cell.", "chiama", "chiamami",
    "chiamare", "telefone", "telemóvel", "telemovel", "ligue", "ligar", "liga", "telefoon", "telefoonnummer", "mobiel", "gsm", "bel me", "bellen",
    "telefonnr", "mobiltelefon", "puhelin", "puhelinnumero", "ring mig", "komórka", "komórkowy", "numer telefonu",
    "telefonu", "zadzwoń", "mobil:", "puh", "telefonní", "telefonszám", "τηλέφωνο", "κινητό", "телефон", "телефона",
    "Телефон", "тел", "Тел", "звоните", "позвони", "мобильный", "телефоном", "мобільний", "電話", "电话", "電話番号", "手机", "手機", "携帯", "携帯電話",
    "联系电话", "聯絡電話", "전화", "전화번호", "휴대폰", "핸드폰", "연락처", "फ़ोन", "फोन", "मोबाइल", "هاتف", "جوال", "موبايل", "טלפון", "נייד",
    "cep telefonu", "điện thoại", "telepon", "nomor hp", "no hp", "โทร",
];

const CARD: &[&str] = &[
    "card", "cards", "card number", "cardnumber", "card_number", "credit card", "credit", "debit", "visa", "mastercard",
    "amex", "american express", "discover", "maestro", "diners", "jcb", "unionpay", "karte", "kartennummer", "kreditkarte",
    "kreditkartennummer", "tarjeta", "carte", "carte bancaire", "cb", "carta", "carta di credito", "cartão", "cartao",
    "karta", "kort", "kortnummer", "creditcard", "kortti", "pan", "cvv", "cvc", "expiry", "карта", "карты", "карту", "カード", "信用卡", "银行卡", "카드",
    "kart", "kredi kartı", "kaart",
];

const OTHER: &[&str] = &[
    "order", "orders", "order_id", "orderid", "order id", "order number", "invoice", "ticket", "tracking", "shipment", "serial", "imei",
    "isbn", "issn", "ean", "upc", "sku", "gtin", "barcode", "timestamp", "ts", "epoch", "unix", "build", "version", "commit",
    "revision", "case number", "reference", "ref", "batch", "lot", "part number", "bestellung", "bestellnummer",
    "rechnung", "rechnungsnummer", "sendung", "sendungsnummer", "auftrag", "auftragsnummer", "artikel", "artikelnummer",
    "kundennummer", "seriennummer", "vorgangsnummer", "pedido", "factura", "seguimiento", "commande", "facture", "suivi",
    "ordine", "fattura", "encomenda", "fatura", "bestelling", "factuur", "zamówienie", "faktura", "注文", "订单", "订单号",
    "заказ", "заказа", "transaction", "transaction id", "account id", "customer id", "user id", "user_id", "userid",
    "message_id", "snowflake", "channel", "guild", "row", "offset", "bytes", "size", "port", "pid", "uid", "gid", "tid",
    "request_id", "request id", "trace", "span", "session", "issue", "issues", "pr", "bug", "doi", "arxiv", "pmid", "dollars", "euros",
    "price", "total", "coordinates", "lat", "lng", "longitude", "latitude", "hash", "model", "modell", "flight", "parcel", "paket", "sendungsverfolgung",
    "수주", "주문", "주문번호", "注文番号", "快递", "运单号", "numéro de commande", "número de pedido", "imsi", "iccid", "vin", "hwid", "mac",
    "phone_hash", "ip", "udp", "tcp", "zip code", "postcode", "checksum", "random", "seed", "numeric", "parameter",
];

const EXAMPLE: &[&str] = &["example", "sample", "beispiel", "ejemplo", "exemple", "esempio", "exemplo", "voorbeeld"];

/// Headers and schemes before a token. The space or colon is part of it: "bearer of news" is none.
const BEARER: &[&str] = &["bearer ", "authorization: token ", "authorization: basic ", "x-api-key: ", "\"basic "];

const COMMAND: &[&str] =
    &["sshpass -p", "mysql ", "mysqldump ", "mysqladmin ", "mariadb ", "curl ", "docker login ", "redis-cli ", "wget ", "identified by "];

static TABLE: LazyLock<(Vec<String>, Vec<Word>)> = LazyLock::new(|| {
    let mut table = (Vec::new(), Vec::new());
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut add = |literal: &str, tag: Tag, exact: bool, alone: bool| {
        let at = *known.entry(literal.to_ascii_lowercase()).or_insert(table.1.len());
        match (table.1.get_mut(at), tag) {
            // The same word may speak for several things; a later one adds its bits.
            (Some(Word { tag: Tag::Context(old), exact: kept, .. }), Tag::Context(new)) => {
                *old |= new;
                *kept &= exact;
            }
            (Some(_), _) => {}
            (None, _) => {
                table.0.push(literal.to_string());
                table.1.push(Word { tag, exact, alone });
            }
        }
    };
    for (index, shape) in shapes::SHAPES.iter().enumerate() {
        for literal in shape.literals() {
            add(&literal, Tag::Shape(index), !shape.is_name(), shape.alone);
        }
    }
    for literal in ["-----BEGIN", "---- BEGIN SSH2", "AGE-SECRET-KEY-", "PuTTY-User-Key-File-", "xprv", "nsec1"] {
        add(literal, Tag::Private, true, false);
    }
    add("://", Tag::Url, false, false);
    BEARER.iter().for_each(|literal| add(literal, Tag::Bearer, false, true));
    COMMAND.iter().for_each(|literal| add(literal, Tag::Command, false, true));
    password_words::NAMES.iter().for_each(|literal| add(literal, Tag::Password, false, false));
    SECRET.iter().for_each(|literal| add(literal, Tag::Secret, false, false));
    for (list, bit) in [(PHONE, bits::PHONE), (CARD, bits::CARD), (OTHER, bits::OTHER), (EXAMPLE, bits::EXAMPLE)] {
        list.iter().for_each(|literal| add(literal, Tag::Context(bit), false, true));
    }
    for (literal, mask, exact) in national::words() {
        add(literal, Tag::Context(mask), exact, true);
    }
    table
});

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&TABLE.0)
        .ok()
});

/// Whether a byte belongs to a word of ASCII letters and digits, or to a letter of another script.
fn letter(byte: Option<&u8>) -> bool {
    byte.is_some_and(|b| b.is_ascii_alphanumeric())
}

/// Every literal in `text` that stands as it must, in order, not overlapping.
pub(crate) fn hits(text: &str) -> impl Iterator<Item = (Tag, usize, usize)> {
    let bytes = text.as_bytes();
    SEARCH.iter().flat_map(move |search| search.find_iter(text)).filter_map(move |hit| {
        let word = TABLE.1.get(hit.pattern().as_usize())?;
        let (start, end) = (hit.start(), hit.end());
        if word.exact && TABLE.0.get(hit.pattern().as_usize())?.as_bytes() != &bytes[start..end] {
            return None;
        }
        if word.alone {
            let first = bytes[start].is_ascii_alphanumeric();
            let before = start.checked_sub(1).and_then(|n| bytes.get(n));
            if first && letter(before) && !hump(bytes, start) {
                return None;
            }
            // What follows a prefix is checked by its shape; a word must end.
            let last = bytes[end - 1].is_ascii_alphabetic();
            if matches!(word.tag, Tag::Context(_)) && last && bytes.get(end).is_some_and(u8::is_ascii_lowercase) {
                return None;
            }
        }
        Some((word.tag, start, end))
    })
}

/// Whether a new word of a camelCase name starts at `at`: `userPhone`, `customerSSN`.
fn hump(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase()
}
