//! Generates key blocks: private ones, which must be found, and public ones, which must not be found.
use super::rng::Rng;

const PRIVATE_KEY_HEADERS: &[(&str, &str)] = &[
    ("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA"),
    ("RSA PRIVATE KEY", "MIIEowIBAAKCAQEA"),
    ("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ"),
    ("PRIVATE KEY", "MC4CAQAwBQYDK2VwBCIEI"),
    ("EC PRIVATE KEY", "MHcCAQEEI"),
    ("ENCRYPTED PRIVATE KEY", "MIIFLTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQI"),
    ("DSA PRIVATE KEY", "MIIBuwIBAAKBgQ"),
    ("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB"),
];

const PUBLIC_HEADERS: &[(&str, &str)] = &[
    ("PUBLIC KEY", "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A"),
    ("RSA PUBLIC KEY", "MIIBCgKCAQEA"),
    ("CERTIFICATE", "MIIDdzCCAl+gAwIBAgIE"),
    ("CERTIFICATE REQUEST", "MIICijCCAXICAQAwRTEL"),
    ("PKCS7", "MIIGYgYJKoZIhvcNAQcCoIIG"),
];

/// The lines of a private key, from BEGIN to END.
pub fn private_key_lines(rng: &mut Rng) -> Vec<String> {
    if rng.chance(15) {
        return pgp_lines(rng, "PRIVATE KEY BLOCK", 12);
    }
    let (label, lead) = PRIVATE_KEY_HEADERS[rng.below(PRIVATE_KEY_HEADERS.len())];
    let length = match label {
        "EC PRIVATE KEY" => 164,
        "DSA PRIVATE KEY" => 600,
        "OPENSSH PRIVATE KEY" => [380, 1800][rng.below(2)],
        _ if lead.starts_with("MC4") => 64,
        _ => 1590,
    };
    let mut lines = pem_lines(rng, label, lead, length);
    if label.starts_with("RSA") && rng.chance(15) {
        let salt = rng.pattern("DEK-Info: AES-128-CBC,[HEX:32]");
        lines.splice(1..1, ["Proc-Type: 4,ENCRYPTED".to_owned(), salt, String::new()]);
    }
    lines
}

/// The lines of a block that is not secret: a public key, a certificate or a signature.
pub fn public_block_lines(rng: &mut Rng) -> Vec<String> {
    match rng.below(8) {
        0 => pgp_lines(rng, "PUBLIC KEY BLOCK", 12),
        1 => pgp_lines(rng, "SIGNATURE", 5),
        n if n < 5 => pem_lines(rng, "CERTIFICATE", PUBLIC_HEADERS[2].1, 1200),
        _ => {
            let (label, lead) = PUBLIC_HEADERS[rng.below(PUBLIC_HEADERS.len())];
            pem_lines(rng, label, lead, 392)
        }
    }
}

fn border_line(word: &str, label: &str) -> String {
    format!("-----{word} {label}-----")
}

fn pem_lines(rng: &mut Rng, label: &str, first_chars: &str, length: usize) -> Vec<String> {
    let width = if label.starts_with("OPENSSH") { 70 } else { 64 };
    let body = format!("{first_chars}{}", rng.random_text(BASE64_ALPHABET, length.saturating_sub(first_chars.len())));
    let padding = "=".repeat((4 - body.len() % 4) % 4);
    let body = body + &padding;
    let lines = body.as_bytes().chunks(width).map(|line| String::from_utf8_lossy(line).into_owned());
    std::iter::once(border_line("BEGIN", label)).chain(lines).chain([border_line("END", label)]).collect()
}

fn pgp_lines(rng: &mut Rng, label: &str, rows: usize) -> Vec<String> {
    let label = format!("PGP {label}");
    let mut lines = vec![border_line("BEGIN", &label)];
    if rng.chance(40) {
        lines.push("Version: GnuPG v2".to_owned());
    }
    lines.push(String::new());
    lines.extend((0..rows).map(|_| rng.random_text(BASE64_ALPHABET, 64)));
    lines.push(format!("{}==", rng.random_text(BASE64_ALPHABET, 22)));
    lines.push(format!("={}", rng.random_text(BASE64_ALPHABET, 4)));
    lines.push(border_line("END", &label));
    lines
}

const BASE64_ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
