//! Generates the texts for the slots of templates. A slot whose name begins with a word for a class gets a labelled
//! value.
use super::rng::Rng;
use super::{blocks, ids_world, keys, money, passwords, people, phones};
use mementory_scan::Class;

/// The class of a slot, which depends on the part of its name before the first dot. None if the slot's text has no
/// label.
pub fn class_of(slot: &str) -> Option<Class> {
    match slot.split('.').next()? {
        "key" | "loose" | "jwt" | "aws" => Some(Class::AccessKey),
        "pem" => Some(Class::PrivateKey),
        "pass" => Some(Class::Password),
        "card" => Some(Class::Card),
        "iban" => Some(Class::Iban),
        "email" => Some(Class::Email),
        "phone" => Some(Class::Phone),
        "id" => Some(Class::NationalId),
        _ => None,
    }
}

/// A value, decoy or word for a slot.
pub fn text_for(rng: &mut Rng, slot: &str) -> String {
    let (word, kind) = slot.split_once('.').unwrap_or((slot, ""));
    match (word, kind) {
        ("key", _) => keys::key_of_known_format(rng),
        ("loose", _) => keys::key_without_format(rng),
        ("jwt", _) => keys::jwt(rng),
        ("aws", _) => keys::aws_secret(rng),
        ("pem", "json") => blocks::private_key_lines(rng).join("\\n"),
        ("pem", "") => blocks::private_key_lines(rng).join("\n"),
        ("pem", indent) => {
            blocks::private_key_lines(rng).join(&format!("\n{}", " ".repeat(indent.parse().unwrap_or(2))))
        }
        ("pass", "url") => passwords::password_for_url(rng),
        ("pass", "word") => passwords::two_word_password(rng),
        ("pass", "prose") => {
            if rng.chance(50) {
                passwords::weak_password(rng)
            } else {
                passwords::strong_password(rng)
            }
        }
        ("pass", _) => passwords::any_password(rng),
        ("card", _) => money::card(rng),
        ("iban", _) => money::iban(rng),
        ("email", _) => people::email(rng),
        ("phone", "") => phones::number_of_any_country(rng),
        ("phone", kind) => match kind.strip_prefix('+') {
            Some(country) => phones::international_number(rng, country),
            None => phones::national_number(rng, kind),
        },
        ("id", kind) => ids_world::kind_by_name(kind).1(rng),
        ("wrong", kind) => ids_world::invalid_number(rng, kind),
        _ => unlabelled_text(rng, slot),
    }
}

/// A text for a slot without a class: a word, a number or a decoy.
fn unlabelled_text(rng: &mut Rng, slot: &str) -> String {
    let pattern = match slot {
        "name" => return people::name(rng),
        "first" => return people::first_name(rng),
        "firm" => return people::firm(rng),
        "city" => return people::city(rng),
        "street" => return people::street(rng),
        "notcard" => return money::invalid_card(rng),
        "samplecard" => return money::sample_card(rng),
        "notiban" => return money::invalid_iban(rng),
        "public" => return blocks::public_block_lines(rng).join("\n"),
        "public.2" => return blocks::public_block_lines(rng).join("\n  "),
        "imei" => return imei(rng),
        "isbn" => return isbn(rng),
        "longrun" => return number_without_luhn_check(rng),
        "bigbase64" => return rng.pattern("[b64:64][b64:64][b64:64][b64:63]="),
        "minified" => return minified_code(rng),
        "date" => return format!("{:02}.{:02}.{}", rng.range(1, 28), rng.range(1, 12), rng.range(2019, 2026)),
        "isodate" => return isodate(rng),
        "stamp" => return format!("{}T{}Z", isodate(rng), time(rng)),
        "time" => return time(rng)[..5].to_owned(),
        "clock" => return time(rng),
        "epoch" => return rng.range(1_600_000_000, 1_780_000_000).to_string(),
        "epochms" => return rng.range(1_600_000_000_000, 1_780_000_000_000).to_string(),
        "int" => return rng.range(2, 400).to_string(),
        "small" => return rng.range(2, 12).to_string(),
        "amount" => return format!("{}.{:02}", rng.range(3, 4900), rng.range(0, 99)),
        "euro" => return format!("{},{:02}", rng.range(3, 999), rng.range(0, 99)),
        "thousand" => return format!("{}.{:03},{:02}", rng.range(1, 99), rng.range(0, 999), rng.range(0, 99)),
        "port" => return rng.range(1025, 9999).to_string(),
        "version" => return format!("{}.{}.{}", rng.range(0, 24), rng.range(0, 30), rng.range(0, 60)),
        "ip" => return format!("10.{}.{}.{}", rng.range(0, 255), rng.range(0, 255), rng.range(1, 254)),
        "lat" => return format!("{}.{}", rng.range(36, 62), rng.digits(6)),
        "lon" => return format!("{}.{}", rng.range(1, 28), rng.digits(6)),
        "uuid" => "[hex:8]-[hex:4]-4[hex:3]-[=8|9|a|b][hex:3]-[hex:12]",
        "ulid" => "01[=H|J|K][crock:23]",
        "sha1" => "[hex:40]",
        "short" => "[hex:7]",
        "sha256" => "[hex:64]",
        "md5" => "[hex:32]",
        "span" => "[hex:16]",
        "sri" => "sha512-[b64:86]==",
        "gosum" => "[b64:43]=",
        "sri384" => "sha384-[b64:64]",
        "colour" => "#[hex:6]",
        "ipv6" => "fd00:[hex:4]:[hex:4]::[hex:4]",
        "mac" => "[hex:2]:[hex:2]:[hex:2]:[hex:2]:[hex:2]:[hex:2]",
        "fingerprint" => "SHA256:[b64:43]",
        "sshpub" => "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[b64:43]",
        "order" => "[=ORD|PO|BE|CMD]-20[=23|24|25]-[dig:6]",
        "invoice" => "[=INV|RE|FA]-20[=23|24|25]-[dig:4]",
        "tracking" => "[=1Z|JJD00|CP][up:4][dig:8]",
        "hashname" => "[=main|vendor|chunk|index|runtime].[hex:8].[=js|css|js.map]",
        "wheel" => "[=numpy|pandas|lxml|regex]-[dig:1].[dig:1].[dig:1]-cp312-cp312-manylinux_2_17_x86_64.whl",
        "user" => "[=app|shop|svc_orders|reporting|web|crm]",
        "db" => "[=shop|orders|crm|billing|events]",
        "host" => "[=db|cache|mq|pg]-[=01|02|prod|eu1].[=internal|svc.cluster.local|lan]",
        "service" => "[=orders|billing|search|gateway|mailer|reports]",
        "placeholder" => PLACEHOLDER_PATTERN,
        "flight" => "[=LH|BA|AF|TP|SK|KL][dig:3]",
        "booking" => "[up:6]",
        other => panic!("no slot {other}"),
    };
    rng.pattern(pattern)
}

const PLACEHOLDER_PATTERN: &str = "[=your-api-key-here|YOUR_API_KEY|<your-token>|<token>|sk-...|\
    ghp_xxxxxxxxxxxxxxxxxxxxxxxx|xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx|${API_KEY}|{{ api_key }}|********|REPLACE_ME|\
    changeme-api-key|insert-your-key-here|$API_TOKEN|AKIAIOSFODNN7EXAMPLE|***REDACTED***|xxxxxxxxxxxxxxxxxxxxxxxx]";

fn isodate(rng: &mut Rng) -> String {
    format!("{}-{:02}-{:02}", rng.range(2019, 2026), rng.range(1, 12), rng.range(1, 28))
}

fn time(rng: &mut Rng) -> String {
    format!("{:02}:{:02}:{:02}", rng.range(0, 23), rng.range(0, 59), rng.range(0, 59))
}

/// A mobile phone's IMEI. It has fifteen digits and passes the Luhn check, but it is not a card number.
fn imei(rng: &mut Rng) -> String {
    let lead = rng.pattern("35[dig:12]");
    format!("{lead}{}", money::luhn_digit(&lead))
}

fn isbn(rng: &mut Rng) -> String {
    let lead = rng.pattern("978[=0|1|3][dig:8]");
    let sum: u32 = lead.bytes().zip([1, 3].iter().cycle()).map(|(b, w)| u32::from(b - b'0') * w).sum();
    let check = (10 - sum % 10) % 10;
    format!("978-{}-{}-{}-{check}", &lead[3..4], &lead[4..8], &lead[8..])
}

/// A seventeen-digit number that fails the Luhn check, so that it cannot be a card number.
fn number_without_luhn_check(rng: &mut Rng) -> String {
    let number = rng.pattern("[=7|8|9][dig:15]");
    let last = (money::luhn_digit(&number) + 1 + rng.below(9) as u8) % 10;
    format!("{number}{last}")
}

fn minified_code(rng: &mut Rng) -> String {
    let function_text = |rng: &mut Rng| {
        let (a, b, n) = (rng.pattern("[let:1]"), rng.pattern("[let:2]"), rng.range(2, 99));
        format!("function {a}({b},e){{return {b}.length>{n}?e.slice(0,{n}):({b}.key=e.token||null,{b})}}")
    };
    let body: String = (0..rng.range(3, 12)).map(|_| function_text(rng)).collect();
    format!("!function(){{\"use strict\";{body}}}();")
}
