//! Generates access keys. Their formats are public (documentation of providers, rules of secret scanners). The patterns
//! only name alphabets, so this source contains no key.
use super::rng::{BASE62, Rng};

/// Formats of keys that can be recognised by their format alone, each with its provider.
const KEY_FORMATS: &[(&str, &str)] = &[
    ("aws", "[=AKIA|ASIA][b32:16]"),
    ("github-fine", "github_pat_[b62:22]_[b62:59]"),
    ("gitlab", "glpat-[url:20]"),
    ("slack-bot", "xoxb-[d19:1][dig:11]-[d19:1][dig:11]-[b62:24]"),
    ("slack-user", "xoxp-[d19:1][dig:11]-[d19:1][dig:11]-[d19:1][dig:11]-[hex:32]"),
    ("slack-app", "xapp-1-A[up:10]-[d19:1][dig:12]-[hex:64]"),
    ("stripe", "[=sk|rk]_live_[b62:24]"),
    ("stripe-long", "sk_live_51[b62:97]"),
    ("google", "AIza[url:35]"),
    ("google-oauth", "GOCSPX-[url:28]"),
    ("openai", "sk-[b62:20]T3BlbkFJ[b62:20]"),
    ("openai-project", "sk-proj-[url:74]T3BlbkFJ[url:74]"),
    ("anthropic", "sk-ant-api03-[url:93]AA"),
    ("hugging-face", "hf_[alpha:34]"),
    ("sendgrid", "SG.[url:22].[url:43]"),
    ("mailgun", "key-[hex:32]"),
    ("mailchimp", "[hex:32]-us[=1|6|12|19|21]"),
    ("digitalocean", "dop_v1_[hex:64]"),
    ("shopify", "shp[=at|ca|pa|ss]_[hex:32]"),
    ("square", "sq0atp-[url:22]"),
    ("telegram", "[d19:1][dig:9]:AA[url:33]"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc[url:150]"),
    ("docker-hub", "dckr_pat_[url:27]"),
    ("terraform", "[b62:14].atlasv1.[url:67]"),
    ("vault", "hvs.[url:92]"),
    ("databricks", "dapi[hex:32]"),
    ("doppler", "dp.pt.[b62:43]"),
    ("linear", "lin_api_[b62:40]"),
    ("notion", "ntn_[dig:11][b62:35]"),
    ("postman", "PMAK-[hex:24]-[hex:34]"),
    ("new-relic", "NRAK-[up:27]"),
    ("grafana", "glsa_[b62:32]_[hex:8]"),
    ("sentry", "sntryu_[hex:64]"),
    ("fly", "fo1_[url:43]"),
    ("rubygems", "rubygems_[hex:48]"),
    ("supabase", "sbp_[hex:40]"),
    ("planetscale", "pscale_tkn_[url:43]"),
    ("groq", "gsk_[b62:52]"),
    ("replicate", "r8_[b62:37]"),
    ("azure-ad", "[b62:3]8Q~[url:34]"),
    ("alibaba", "LTAI5t[b62:18]"),
    ("brevo", "xkeysib-[hex:64]-[b62:16]"),
    ("pulumi", "pul-[hex:40]"),
    ("dynatrace", "dt0c01.[up:24].[up:64]"),
    ("figma", "figd_[url:40]"),
    ("airtable", "pat[b62:14].[hex:64]"),
    ("easypost", "EZAK[b62:54]"),
];

/// Patterns of keys without a known format. Only the words around them show that they are keys.
const UNFORMATTED_KEY_PATTERNS: &[&str] =
    &["[hex:32]", "[hex:40]", "[hex:64]", "[b62:32]", "[b62:40]", "[b62:48]", "[b62:64]", "[low:36]", "[url:43]"];

/// A key of a known format.
pub fn key_of_known_format(rng: &mut Rng) -> String {
    // GitHub and npm keys end with a checksum, so a pattern is not enough.
    if rng.chance(12) {
        let lead = rng.pattern("[=ghp|gho|ghu|ghs|ghr|npm]_");
        return key_with_checksum(rng, &lead);
    }
    // Discord keys begin with the bot's 18-digit id in base64.
    if rng.chance(3) {
        let bot = rng.pattern("[d19:1][dig:17]");
        return format!("{}.{}", base64url(bot.as_bytes()), rng.pattern("[url:6].[url:27]"));
    }
    let (_, pattern) = KEY_FORMATS[rng.below(KEY_FORMATS.len())];
    rng.pattern(pattern)
}

/// A key that can only be recognised by the words around it.
pub fn key_without_format(rng: &mut Rng) -> String {
    let pattern = rng.pick(UNFORMATTED_KEY_PATTERNS);
    rng.pattern(pattern)
}

/// An AWS secret key: forty characters of base64, recognised by the name of its variable.
pub fn aws_secret(rng: &mut Rng) -> String {
    rng.pattern("[b64:40]")
}

/// A JSON web token: two objects in base64url and a signature.
pub fn jwt(rng: &mut Rng) -> String {
    let (header, subject) = (rng.pick(&["HS256", "RS256", "ES256"]), rng.digits(10));
    let header = base64url(format!(r#"{{"alg":"{header}","typ":"JWT"}}"#).as_bytes());
    let issued_at = rng.range(1_640_000_000, 1_760_000_000);
    let body = format!(r#"{{"sub":"{subject}","iat":{issued_at},"exp":{},"scope":"read write"}}"#, issued_at + 3600);
    format!("{header}.{}.{}", base64url(body.as_bytes()), rng.pattern("[url:43]"))
}

/// A key in GitHub's format: 30 random characters, followed by their CRC-32 as six digits in base 62.
fn key_with_checksum(rng: &mut Rng, token_prefix: &str) -> String {
    let body = rng.random_text(BASE62, 30);
    let mut sum = crc32(body.as_bytes());
    let mut tail = [b'0'; 6];
    for place in tail.iter_mut().rev() {
        *place = BASE62.as_bytes()[(sum % 62) as usize];
        sum /= 62;
    }
    format!("{token_prefix}{body}{}", String::from_utf8_lossy(&tail))
}

/// CRC-32 as in ZIP files, calculated bit by bit.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

fn base64url(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, b| word << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            out.push(char::from(ALPHABET[(word >> (18 - 6 * place) & 63) as usize]));
        }
    }
    out
}

/// Number of providers whose keys are generated.
pub fn provider_count() -> usize {
    KEY_FORMATS.len() + 3
}
