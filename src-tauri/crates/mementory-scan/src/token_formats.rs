//! Keys and tokens whose format identifies the provider. To add one, add an entry to [`TOKEN_FORMATS`].
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use crate::context::Doc;
use crate::entropy::is_random;
use crate::placeholder::is_fake_token;
use crate::{Class, Confidence, Finding};

/// What the prefix of a known token format alone shows about the word that begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PrefixEvidence {
    /// Nothing, because ordinary words begin with the prefix too.
    None,
    /// A word that also has letters and digits is a token. Other names begin with the prefix too, such as
    /// `npm_config_registry`.
    WithDigits,
    /// A long word is a token.
    Alone,
}

/// A known format of tokens.
pub(crate) struct TokenFormat {
    /// Name of the detector.
    pub name: &'static str,
    /// Prefix of every token in this format, case-sensitive.
    pub prefix: &'static str,
    /// Regular expression for the text after the prefix. If it has a group, only the group is the token. Otherwise, the
    /// token is the prefix together with the matched text.
    pattern: &'static str,
    /// True if the prefix must begin a word. It must not follow a letter, a digit or `_`, nor a word and a hyphen.
    pub is_whole_word: bool,
    /// What the prefix shows about a word that does not match the pattern.
    prefix_evidence: PrefixEvidence,
}

impl TokenFormat {
    /// The literals to search for: the prefix alone, except in formats whose prefix is so short that it occurs too
    /// often. The literals of such a format are the prefix with each character that can follow: a hexadecimal digit
    /// (Twilio), or a base64 character that can encode the second digit of a bot's id (Discord).
    pub fn literals(&self) -> Vec<String> {
        let next = match self.name {
            "twilio_key" | "twilio_account_sid" => "0123456789abcdef",
            "discord_bot_token" => "AEIMQUYcgk",
            _ => return vec![self.prefix.to_string()],
        };
        next.chars().map(|c| format!("{}{c}", self.prefix)).collect()
    }

    /// Whether the prefix is also a name to which a secret may be assigned. As a name, it is not case-sensitive.
    pub fn is_name(&self) -> bool {
        ["secret_", "key-", "AccountKey=", "SharedAccessKey=", "access_token$"].contains(&self.prefix)
    }
}

/// Length of the longest token in bytes.
const MAX_TOKEN_BYTES: usize = 8192;

/// Number of characters that follow the prefix in the shortest token whose prefix must begin a word.
const MIN_BODY_BYTES: usize = 12;

const fn token(name: &'static str, prefix: &'static str, pattern: &'static str) -> TokenFormat {
    TokenFormat { name, prefix, pattern, is_whole_word: true, prefix_evidence: PrefixEvidence::None }
}

/// A format with [`PrefixEvidence::WithDigits`].
const fn token_with_digits(name: &'static str, prefix: &'static str, pattern: &'static str) -> TokenFormat {
    TokenFormat { name, prefix, pattern, is_whole_word: true, prefix_evidence: PrefixEvidence::WithDigits }
}

/// A format with [`PrefixEvidence::Alone`].
const fn distinctive_token(name: &'static str, prefix: &'static str, pattern: &'static str) -> TokenFormat {
    TokenFormat { name, prefix, pattern, is_whole_word: true, prefix_evidence: PrefixEvidence::Alone }
}

/// A format whose prefix may follow a letter, because it is the end of a name or part of a URL.
const fn token_within_word(name: &'static str, prefix: &'static str, pattern: &'static str) -> TokenFormat {
    TokenFormat { name, prefix, pattern, is_whole_word: false, prefix_evidence: PrefixEvidence::None }
}

/// The bot's id in base64, a time, and a signature.
const DISCORD_PATTERN: &str = r"[A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}";

/// The formats, according to the providers' documentation. If a length is not documented, the pattern allows a wide
/// range.
pub(crate) static TOKEN_FORMATS: &[TokenFormat] = &[
    distinctive_token("aws_access_key_id", "AKIA", "[A-Z2-7]{16}"),
    token("aws_access_key_id", "ASIA", "[A-Z2-7]{16}"),
    token("aws_bearer_token", "ABSK", "[A-Za-z0-9+/]{80,300}={0,2}"),
    distinctive_token("github_token", "ghp_", "[A-Za-z0-9]{36,255}"),
    distinctive_token("github_token", "gho_", "[A-Za-z0-9]{36,255}"),
    distinctive_token("github_token", "ghu_", "[A-Za-z0-9]{36,255}"),
    distinctive_token("github_token", "ghs_", "[A-Za-z0-9_.-]{36,600}"),
    token("github_token", "ghr_", "[A-Za-z0-9]{36,255}"),
    distinctive_token("github_fine_grained_token", "github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{59,100}"),
    distinctive_token("gitlab_token", "glpat-", "[A-Za-z0-9_-]{20,60}(?:\\.[a-z0-9]{2}\\.[a-z0-9]{7,12})?"),
    token("gitlab_token", "gldt-", "[A-Za-z0-9_-]{20,60}"),
    token("gitlab_token", "glrt-", "[A-Za-z0-9_.-]{20,80}"),
    token("gitlab_token", "glptt-", "[a-f0-9]{40}"),
    token("gitlab_token", "glcbt-", "[A-Za-z0-9_-]{20,80}"),
    token("gitlab_token", "glsoat-", "[A-Za-z0-9_-]{20,60}"),
    token("gitlab_token", "glft-", "[A-Za-z0-9_-]{20,60}"),
    token("gitlab_token", "gloas-", "[a-f0-9]{64}"),
    token("gitlab_token", "GR1348941", "[A-Za-z0-9_-]{20,60}"),
    distinctive_token("slack_token", "xoxb-", "[0-9A-Za-z-]{20,250}"),
    distinctive_token("slack_token", "xoxp-", "[0-9A-Za-z-]{20,250}"),
    token("slack_token", "xoxa-", "[0-9A-Za-z-]{20,250}"),
    token("slack_token", "xoxr-", "[0-9A-Za-z-]{20,250}"),
    token("slack_token", "xoxs-", "[0-9A-Za-z-]{20,250}"),
    token("slack_token", "xoxo-", "[0-9A-Za-z-]{20,250}"),
    token("slack_token", "xoxc-", "[0-9A-Za-z-]{20,250}"),
    token("slack_token", "xoxd-", "[0-9A-Za-z%+/=-]{20,400}"),
    token("slack_token", "xoxe.xox", "[bp]-[0-9A-Za-z-]{20,400}"),
    token("slack_token", "xoxe-", "[0-9A-Za-z-]{20,400}"),
    distinctive_token("slack_app_token", "xapp-", "[0-9]-[A-Z0-9]{8,14}-[0-9]{8,16}-[A-Za-z0-9]{32,80}"),
    token_within_word(
        "slack_webhook",
        "hooks.slack.com/services/",
        "(T[A-Z0-9]{7,12}/B[A-Z0-9]{7,12}/[A-Za-z0-9]{20,28})",
    ),
    token_within_word("discord_webhook", "discord.com/api/webhooks/", "([0-9]{17,20}/[A-Za-z0-9_-]{60,80})"),
    token_within_word("discord_webhook", "discordapp.com/api/webhooks/", "([0-9]{17,20}/[A-Za-z0-9_-]{60,80})"),
    token("discord_bot_token", "MT", DISCORD_PATTERN),
    token("discord_bot_token", "Mj", DISCORD_PATTERN),
    token("discord_bot_token", "Mz", DISCORD_PATTERN),
    token("discord_bot_token", "ND", DISCORD_PATTERN),
    token("discord_bot_token", "NT", DISCORD_PATTERN),
    token("discord_bot_token", "Nj", DISCORD_PATTERN),
    token("discord_bot_token", "Nz", DISCORD_PATTERN),
    token("discord_bot_token", "OD", DISCORD_PATTERN),
    token("discord_bot_token", "OT", DISCORD_PATTERN),
    distinctive_token("stripe_key", "sk_live_", "[A-Za-z0-9]{16,255}"),
    token("stripe_key", "sk_test_", "[A-Za-z0-9]{16,255}"),
    distinctive_token("stripe_key", "rk_live_", "[A-Za-z0-9]{16,255}"),
    token("stripe_key", "rk_test_", "[A-Za-z0-9]{16,255}"),
    token("signing_secret", "whsec_", "[A-Za-z0-9+/=]{24,100}"),
    distinctive_token("google_api_key", "AIza", "[A-Za-z0-9_-]{35}"),
    token("google_oauth_secret", "GOCSPX-", "[A-Za-z0-9_-]{24,32}"),
    distinctive_token("google_oauth_token", "ya29.", "[A-Za-z0-9_.-]{20,2048}"),
    token("google_refresh_token", "1//0", "[A-Za-z0-9_-]{40,200}"),
    token("anthropic_key", "sk-ant-", "[A-Za-z0-9_-]{24,200}"),
    token("openrouter_key", "sk-or-", "v[0-9]-[a-f0-9]{32,80}"),
    token("openai_key", "sk-proj-", "[A-Za-z0-9_-]{20,220}"),
    token("openai_key", "sk-svcacct-", "[A-Za-z0-9_-]{20,220}"),
    token("openai_key", "sk-admin-", "[A-Za-z0-9_-]{20,220}"),
    token("langfuse_key", "sk-lf-", "[a-f0-9-]{36}"),
    distinctive_token("openai_key", "sk-", "(?:[A-Za-z0-9]{2,12}-)?[A-Za-z0-9]{20,120}"),
    distinctive_token("hugging_face_token", "hf_", "[A-Za-z0-9]{30,50}"),
    token("hugging_face_token", "api_org_", "[A-Za-z]{34}"),
    distinctive_token("groq_key", "gsk_", "[A-Za-z0-9]{40,80}"),
    token("replicate_token", "r8_", "[A-Za-z0-9]{37,45}"),
    token("perplexity_key", "pplx-", "[A-Za-z0-9]{40,64}"),
    token("xai_key", "xai-", "[A-Za-z0-9]{60,100}"),
    token("fireworks_key", "fw_", "[A-Za-z0-9]{22,32}"),
    token("nvidia_key", "nvapi-", "[A-Za-z0-9_-]{50,80}"),
    token("tavily_key", "tvly-", "[A-Za-z0-9_-]{20,64}"),
    token("langsmith_key", "lsv2_", "(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    token("pinecone_key", "pcsk_", "[A-Za-z0-9_]{30,90}"),
    token_with_digits("elevenlabs_key", "sk_", "[a-f0-9]{48}"),
    token_with_digits("npm_token", "npm_", "[A-Za-z0-9]{36}"),
    token("pypi_token", "pypi-", "[A-Za-z0-9_-]{50,400}"),
    token("rubygems_key", "rubygems_", "[a-f0-9]{48}"),
    token("crates_io_token", "cio", "[A-Za-z0-9]{32}"),
    token("nuget_key", "oy2", "[a-z0-9]{43}"),
    token("docker_token", "dckr_pat_", "[A-Za-z0-9_-]{20,64}"),
    token("docker_token", "dckr_oat_", "[A-Za-z0-9_-]{20,64}"),
    token("sendgrid_key", "SG.", "[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16,64}"),
    token("mailgun_key", "key-", "[a-f0-9]{32}"),
    token("brevo_key", "xkeysib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("brevo_key", "xsmtpsib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("postman_key", "PMAK-", "[a-f0-9]{24}-[a-f0-9]{34}"),
    token("resend_key", "re_", "[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,32}"),
    token("digitalocean_token", "dop_v1_", "[a-f0-9]{64}"),
    token("digitalocean_token", "doo_v1_", "[a-f0-9]{64}"),
    token("digitalocean_token", "dor_v1_", "[a-f0-9]{64}"),
    token("shopify_token", "shpat_", "[A-Fa-f0-9]{32}"),
    token("shopify_token", "shpca_", "[A-Fa-f0-9]{32}"),
    token("shopify_token", "shppa_", "[A-Fa-f0-9]{32}"),
    token("shopify_token", "shpss_", "[A-Fa-f0-9]{32}"),
    token("square_token", "sq0atp-", "[A-Za-z0-9_-]{22}"),
    token("square_token", "sq0csp-", "[A-Za-z0-9_-]{43}"),
    token("square_token", "EAAA", "[A-Za-z0-9_-]{60}"),
    token("paypal_token", "access_token$", "production\\$[a-z0-9]{16}\\$[a-f0-9]{32}"),
    token("facebook_token", "EAAC", "[A-Za-z0-9]{60,300}"),
    token("facebook_token", "EAAG", "[A-Za-z0-9]{60,300}"),
    token("vault_token", "hvs.", "[A-Za-z0-9_-]{24,200}"),
    token("vault_token", "hvb.", "[A-Za-z0-9_-]{24,300}"),
    token_within_word("terraform_token", ".atlasv1.", "[A-Za-z0-9_=-]{60,80}"),
    token("databricks_token", "dapi", "[a-f0-9]{32}(?:-[0-9])?"),
    token("grafana_token", "glsa_", "[A-Za-z0-9]{32}_[a-f0-9]{8}"),
    token("grafana_token", "glc_", "[A-Za-z0-9+/=]{32,400}"),
    token("new_relic_key", "NRAK-", "[A-Z0-9]{27}"),
    token("sentry_token", "sntrys_", "[A-Za-z0-9+/=_-]{40,400}"),
    token("sentry_token", "sntryu_", "[a-f0-9]{64}"),
    token("dynatrace_token", "dt0c01.", "[A-Z0-9]{24}\\.[A-Z0-9]{64}"),
    token("linear_key", "lin_api_", "[A-Za-z0-9]{40}"),
    token("linear_key", "lin_oauth_", "[A-Za-z0-9]{40,64}"),
    token("notion_token", "ntn_", "[A-Za-z0-9]{40,60}"),
    token("notion_token", "secret_", "[A-Za-z0-9]{43}"),
    token("figma_token", "figd_", "[A-Za-z0-9_-]{36,64}"),
    token("airtable_token", "pat", "[A-Za-z0-9]{14}\\.[a-f0-9]{64}"),
    token("asana_token", "1/", "[0-9]{15,17}:[a-f0-9]{32}"),
    token("atlassian_token", "ATATT3", "[A-Za-z0-9_=+/-]{60,300}"),
    token("atlassian_token", "ATCTT3", "[A-Za-z0-9_=+/-]{60,300}"),
    token("atlassian_token", "ATBB", "[A-Za-z0-9]{28,40}"),
    token("hubspot_token", "pat-na1-", "[a-f0-9-]{36}"),
    token("hubspot_token", "pat-eu1-", "[a-f0-9-]{36}"),
    token("planetscale_token", "pscale_tkn_", "[A-Za-z0-9_.=-]{32,64}"),
    token("planetscale_token", "pscale_pw_", "[A-Za-z0-9_.=-]{32,64}"),
    token("supabase_token", "sbp_", "[a-f0-9]{40}"),
    token("supabase_key", "sb_secret_", "[A-Za-z0-9_-]{24,60}"),
    token("neon_key", "napi_", "[a-z0-9]{40,80}"),
    token("vercel_token", "vcp_", "[A-Za-z0-9]{24,64}"),
    token("netlify_token", "nfp_", "[A-Za-z0-9]{36,44}"),
    token("render_key", "rnd_", "[A-Za-z0-9]{28,40}"),
    token("fly_token", "fo1_", "[A-Za-z0-9_-]{43}"),
    token("fly_token", "fm2_", "[A-Za-z0-9+/=_]{80,800}"),
    token("fly_token", "FlyV1 ", "fm[0-9]_[A-Za-z0-9+/=_,]{80,2000}"),
    token("heroku_key", "HRKU-", "[A-Za-z0-9_-]{36,64}"),
    token("pulumi_token", "pul-", "[a-f0-9]{40}"),
    token("doppler_token", "dp.pt.", "[A-Za-z0-9]{40,44}"),
    token("doppler_token", "dp.st.", "(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}"),
    token("onepassword_token", "ops_", "eyJ[A-Za-z0-9+/=_-]{200,2000}"),
    token("tailscale_key", "tskey-", "[a-z]{3,8}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,48}"),
    token("cloudflare_token", "cfut_", "[A-Za-z0-9_-]{36,60}"),
    token("cloudflare_origin_key", "v1.0-", "[a-f0-9]{24}-[a-f0-9]{146}"),
    token("jfrog_key", "AKCp", "[A-Za-z0-9]{64,75}"),
    token("sonar_token", "sqp_", "[a-f0-9]{40}"),
    token("sonar_token", "squ_", "[a-f0-9]{40}"),
    token("circleci_token", "CCIPAT_", "[A-Za-z0-9]{20,24}_[a-f0-9]{40}"),
    token("buildkite_token", "bkua_", "[a-f0-9]{40}"),
    token("typeform_token", "tfp_", "[A-Za-z0-9_.=-]{40,64}"),
    token("duffel_token", "duffel_live_", "[A-Za-z0-9_=-]{43}"),
    token("easypost_key", "EZAK", "[A-Za-z0-9]{54}"),
    token("mapbox_token", "sk.eyJ", "[A-Za-z0-9_-]{40,200}\\.[A-Za-z0-9_-]{20,30}"),
    token("alibaba_key", "LTAI", "[A-Za-z0-9]{12,24}"),
    token("tencent_key", "AKID", "[A-Za-z0-9]{32}"),
    token("yandex_key", "AQVN", "[A-Za-z0-9_-]{35,38}"),
    token("telegram_bot_token", ":AA", "[A-Za-z0-9_-]{32,33}"),
    token("jwt", "eyJ", "[A-Za-z0-9_-]{8,2000}\\.eyJ[A-Za-z0-9_-]{8,6000}\\.[A-Za-z0-9_-]{16,1000}"),
    token("azure_storage_key", "AccountKey=", "([A-Za-z0-9+/]{40,90}={0,2})"),
    token("azure_shared_access_key", "SharedAccessKey=", "([A-Za-z0-9+/]{40,90}={0,2})"),
    token_within_word("azure_sas_signature", "&sig=", "([A-Za-z0-9%+/]{40,100}(?:=|%3[Dd])?)"),
    token_within_word("azure_sas_signature", "?sig=", "([A-Za-z0-9%+/]{40,100}(?:=|%3[Dd])?)"),
    token_within_word("mailchimp_key", "-us1", "[0-9]?"),
    token_within_word("mailchimp_key", "-us2", "[0-9]?"),
    token_within_word("mailchimp_key", "-us3", ""),
    token_within_word("mailchimp_key", "-us4", ""),
    token_within_word("mailchimp_key", "-us5", ""),
    token_within_word("mailchimp_key", "-us6", ""),
    token_within_word("mailchimp_key", "-us7", ""),
    token_within_word("mailchimp_key", "-us8", ""),
    token_within_word("mailchimp_key", "-us9", ""),
    token_within_word("azure_client_secret", "8Q~", "[A-Za-z0-9_.~-]{31,34}"),
    token_within_word("azure_client_secret", "7Q~", "[A-Za-z0-9_.~-]{31,34}"),
    token("twilio_key", "SK", "[a-f0-9]{32}"),
    token("twilio_account_sid", "AC", "[a-f0-9]{32}"),
];

/// The compiled patterns of the formats, at the same indexes. Each is compiled when its prefix is first found, because
/// compiling all takes longer than most searches.
static PATTERNS: LazyLock<Vec<OnceLock<Option<Regex>>>> =
    LazyLock::new(|| TOKEN_FORMATS.iter().map(|_| OnceLock::new()).collect());

fn pattern(index: usize) -> Option<&'static Regex> {
    let format = TOKEN_FORMATS.get(index)?;
    let compile = || Regex::new(&format!("^{}{}", regex::escape(format.prefix), format.pattern)).ok();
    PATTERNS.get(index)?.get_or_init(compile).as_ref()
}

/// The prefix of a known token format with which the text begins, if it is evidence enough. If several prefixes fit, the
/// shortest one.
///
/// [`scan`](crate::scan) also checks the pattern of the format. This function is for texts in which a missed token is
/// worse than a word that is wrongly taken for one.
pub fn token_prefix(text: &str, min_evidence: PrefixEvidence) -> Option<&'static str> {
    let is_prefix = |format: &&TokenFormat| format.prefix_evidence >= min_evidence && text.starts_with(format.prefix);
    TOKEN_FORMATS.iter().filter(is_prefix).map(|format| format.prefix).min_by_key(|prefix| prefix.len())
}

/// The token at `start`, if there is one in the format with this index.
pub(crate) fn token_at(doc: &Doc, index: usize, start: usize) -> Option<Finding> {
    let format = TOKEN_FORMATS.get(index)?;
    // Most words that begin with the prefix end soon. This is ruled out first, because compiling a pattern takes long.
    let min_body_len = if format.is_whole_word { MIN_BODY_BYTES } else { 1 };
    let body_start = start + format.prefix.len();
    if !doc.bytes.get(body_start..body_start + min_body_len)?.iter().all(u8::is_ascii_graphic) {
        return None;
    }
    if format.is_whole_word && start > 0 && continues_word(doc.bytes, start) {
        return None;
    }
    let window = &doc.text[start..doc.text.floor_char_boundary((start + MAX_TOKEN_BYTES).min(doc.text.len()))];
    let captures = pattern(index)?.captures(window)?;
    let value = captures.get(1).or_else(|| captures.get(0))?;
    let (mut from, mut to) = (start + value.start(), start + value.end());
    if doc.bytes.get(to).is_some_and(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    match format.name {
        "telegram_bot_token" => from -= count_bot_id_digits(doc.bytes, from)?,
        "terraform_token" => from -= token_part_len(doc.bytes, from, 14)?,
        "azure_client_secret" => from -= token_part_len(doc.bytes, from, 3)?,
        "mailchimp_key" => from -= mailchimp_key_len(doc.bytes, from)?,
        _ => {}
    }
    while to > from && matches!(doc.bytes[to - 1], b'.' | b'-') {
        to -= 1;
    }
    let token = &doc.text[from..to];
    let body = token.get(format.prefix.len()..).unwrap_or(token);
    if is_fake_token(token) || !is_varied(format.name, body) {
        return None;
    }
    Some(Finding {
        class: Class::AccessKey,
        detector: format.name,
        start: from,
        end: to,
        confidence: Confidence::VeryLikely,
    })
}

/// Whether the prefix at `start` is part of a longer name, as in `my_sk_live_` and `task-hf_`.
fn continues_word(bytes: &[u8], start: usize) -> bool {
    match bytes[start - 1] {
        b'_' => true,
        b'-' => start > 1 && bytes[start - 2].is_ascii_alphanumeric(),
        _ => false,
    }
}

/// Whether the text after the prefix is as varied as in a token. `sk-learn-contrib-imbalanced` and `fw_something` begin
/// like tokens, but consist of words.
fn is_varied(name: &str, body: &str) -> bool {
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    let capitals = body.bytes().filter(u8::is_ascii_uppercase).count();
    match name {
        "aws_access_key_id" => body.bytes().any(|b| !b.is_ascii_uppercase()) || count_distinct_bytes(body) > 8,
        "fireworks_key" | "resend_key" | "alibaba_key" | "vercel_token" | "render_key" | "atlassian_token"
        | "crates_io_token" => digits > 0 && capitals > 0,
        "nuget_key" | "openai_key" | "slack_token" => digits > 0,
        _ => count_distinct_bytes(body) >= 6,
    }
}

fn count_distinct_bytes(value: &str) -> usize {
    let mut seen_bytes = [false; 256];
    value.bytes().for_each(|b| seen_bytes[b as usize] = true);
    seen_bytes.iter().filter(|was_seen| **was_seen).count()
}

/// Number of digits in the Telegram bot id that ends at `position`. None unless there are 8 to 10.
fn count_bot_id_digits(bytes: &[u8], position: usize) -> Option<usize> {
    let count = bytes[..position].iter().rev().take(12).take_while(|b| b.is_ascii_digit()).count();
    (8..=10).contains(&count).then_some(count)
}

/// Length of the Mailchimp key that ends at `position`. None unless it consists of exactly 32 hexadecimal digits.
fn mailchimp_key_len(bytes: &[u8], position: usize) -> Option<usize> {
    let count = bytes[..position].iter().rev().take(33).take_while(|b| b.is_ascii_alphanumeric()).count();
    (count == 32 && crate::entropy::is_hex(std::str::from_utf8(&bytes[position - 32..position]).ok()?)).then_some(count)
}

/// Returns `count` if the text before `position` is the first part of a token with exactly this many characters.
fn token_part_len(bytes: &[u8], position: usize, count: usize) -> Option<usize> {
    let from = position.checked_sub(count)?;
    let has_only_token_bytes =
        bytes[from..position].iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'~' | b'.' | b'-'));
    let starts_word = from == 0 || !bytes[from - 1].is_ascii_alphanumeric();
    (has_only_token_bytes && starts_word).then_some(count)
}

/// Finds the AWS secret key within 160 bytes after its id. The key has no prefix; it consists of 40 letters, digits,
/// `/` and `+`.
pub(crate) fn find_aws_secret_near(doc: &Doc, id: &Finding, findings: &mut Vec<Finding>) {
    if id.detector != "aws_access_key_id" {
        return;
    }
    let end = (id.end + 160).min(doc.bytes.len());
    let mut position = id.end;
    while position < end {
        let run = doc.bytes[position..]
            .iter()
            .take(48)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+'))
            .count();
        if run == 40 {
            let value = &doc.text[position..position + run];
            if is_random(value, true) && !crate::entropy::is_hex(value) && !is_fake_token(value) {
                findings.push(Finding {
                    class: Class::AccessKey,
                    detector: "aws_secret_access_key",
                    start: position,
                    end: position + run,
                    confidence: Confidence::VeryLikely,
                });
            }
            return;
        }
        position += run.max(1);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{
        MIN_BODY_BYTES,
        PrefixEvidence::{Alone, WithDigits},
        TOKEN_FORMATS, pattern, token_prefix,
    };

    #[test]
    fn no_pattern_accepts_fewer_characters_than_are_required() {
        for (index, format) in TOKEN_FORMATS.iter().enumerate().filter(|(_, format)| format.is_whole_word) {
            let pattern = pattern(index).unwrap();
            let parsed = regex_syntax::parse(pattern.as_str()).unwrap();
            let min_len = parsed.properties().minimum_len().unwrap() - format.prefix.len();
            assert!(min_len >= MIN_BODY_BYTES, "{}: {min_len}", format.name);
        }
    }

    #[test]
    fn a_prefix_is_returned_only_if_it_is_evidence_enough() {
        for (text, with_digits, alone) in [
            ("ghp_0123", Some("ghp_"), Some("ghp_")),
            ("sk-ant-0123", Some("sk-"), Some("sk-")),
            ("sk_live_0123", Some("sk_"), Some("sk_live_")),
            ("npm_config_registry", Some("npm_"), None),
            ("key-0123", None, None),
            ("a ghp_0123", None, None),
        ] {
            assert_eq!(token_prefix(text, WithDigits), with_digits, "{text}");
            assert_eq!(token_prefix(text, Alone), alone, "{text}");
        }
    }
}
