//! Keys and tokens that say by their shape whose they are. A new one is a line in [`SHAPES`].
use std::sync::LazyLock;

use regex::Regex;

use crate::context::Doc;
use crate::entropy::is_random;
use crate::placeholder::is_fake_token;
use crate::{Class, Confidence, Finding};

/// A known shape of token.
pub(crate) struct Shape {
    /// The detector's name.
    pub name: &'static str,
    /// What every token of this shape starts with, exactly.
    pub prefix: &'static str,
    /// What follows the prefix. With a group, the group alone is the value.
    rest: &'static str,
    /// The prefix must not follow a letter or digit.
    pub alone: bool,
}

impl Shape {
    /// The literals to look for. A prefix of two letters stands in every second word, so it is looked for together
    /// with each of the letters that can follow: hexadecimal digits, or base64 of a second decimal digit.
    pub fn literals(&self) -> Vec<String> {
        let next = match self.name {
            "twilio_key" | "twilio_account_sid" => "0123456789abcdef",
            "discord_bot_token" => "AEIMQUYcgk",
            _ => return vec![self.prefix.to_string()],
        };
        next.chars().map(|c| format!("{}{c}", self.prefix)).collect()
    }

    /// Whether the prefix is also a name that a secret may be assigned to, in any case.
    pub fn is_name(&self) -> bool {
        ["secret_", "key-", "AccountKey=", "SharedAccessKey=", "access_token$"].contains(&self.prefix)
    }
}

/// No token is looked at further than this.
const REACH: usize = 8192;

const fn shape(name: &'static str, prefix: &'static str, rest: &'static str) -> Shape {
    Shape { name, prefix, rest, alone: true }
}

/// A shape whose prefix may follow a letter: the end of a name, a piece of a web address.
const fn within(name: &'static str, prefix: &'static str, rest: &'static str) -> Shape {
    Shape { name, prefix, rest, alone: false }
}

/// Base64 of the bot's number, a time, a signature.
const DISCORD: &str = r"[A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}";

/// The shapes, from the providers' own documentation. Where they promise no length, it is left open upwards.
pub(crate) static SHAPES: &[Shape] = &[
    shape("aws_access_key_id", "AKIA", "[A-Z2-7]{16}"),
    shape("aws_access_key_id", "ASIA", "[A-Z2-7]{16}"),
    shape("aws_bearer_token", "ABSK", "[A-Za-z0-9+/]{80,300}={0,2}"),
    shape("github_token", "ghp_", "[A-Za-z0-9]{36,255}"),
    shape("github_token", "gho_", "[A-Za-z0-9]{36,255}"),
    shape("github_token", "ghu_", "[A-Za-z0-9]{36,255}"),
    shape("github_token", "ghs_", "[A-Za-z0-9_.-]{36,600}"),
    shape("github_token", "ghr_", "[A-Za-z0-9]{36,255}"),
    shape("github_fine_grained_token", "github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{59,100}"),
    shape("gitlab_token", "glpat-", "[A-Za-z0-9_-]{20,60}(?:\\.[a-z0-9]{2}\\.[a-z0-9]{7,12})?"),
    shape("gitlab_token", "gldt-", "[A-Za-z0-9_-]{20,60}"),
    shape("gitlab_token", "glrt-", "[A-Za-z0-9_.-]{20,80}"),
    shape("gitlab_token", "glptt-", "[a-f0-9]{40}"),
    shape("gitlab_token", "glcbt-", "[A-Za-z0-9_-]{20,80}"),
    shape("gitlab_token", "glsoat-", "[A-Za-z0-9_-]{20,60}"),
    shape("gitlab_token", "glft-", "[A-Za-z0-9_-]{20,60}"),
    shape("gitlab_token", "gloas-", "[a-f0-9]{64}"),
    shape("gitlab_token", "GR1348941", "[A-Za-z0-9_-]{20,60}"),
    shape("slack_token", "xoxb-", "[0-9A-Za-z-]{20,250}"),
    shape("slack_token", "xoxp-", "[0-9A-Za-z-]{20,250}"),
    shape("slack_token", "xoxa-", "[0-9A-Za-z-]{20,250}"),
    shape("slack_token", "xoxr-", "[0-9A-Za-z-]{20,250}"),
    shape("slack_token", "xoxs-", "[0-9A-Za-z-]{20,250}"),
    shape("slack_token", "xoxo-", "[0-9A-Za-z-]{20,250}"),
    shape("slack_token", "xoxc-", "[0-9A-Za-z-]{20,250}"),
    shape("slack_token", "xoxd-", "[0-9A-Za-z%+/=-]{20,400}"),
    shape("slack_token", "xoxe.xox", "[bp]-[0-9A-Za-z-]{20,400}"),
    shape("slack_token", "xoxe-", "[0-9A-Za-z-]{20,400}"),
    shape("slack_app_token", "xapp-", "[0-9]-[A-Z0-9]{8,14}-[0-9]{8,16}-[A-Za-z0-9]{32,80}"),
    within("slack_webhook", "hooks.slack.com/services/", "(T[A-Z0-9]{7,12}/B[A-Z0-9]{7,12}/[A-Za-z0-9]{20,28})"),
    within("discord_webhook", "discord.com/api/webhooks/", "([0-9]{17,20}/[A-Za-z0-9_-]{60,80})"),
    within("discord_webhook", "discordapp.com/api/webhooks/", "([0-9]{17,20}/[A-Za-z0-9_-]{60,80})"),
    shape("discord_bot_token", "MT", DISCORD),
    shape("discord_bot_token", "Mj", DISCORD),
    shape("discord_bot_token", "Mz", DISCORD),
    shape("discord_bot_token", "ND", DISCORD),
    shape("discord_bot_token", "NT", DISCORD),
    shape("discord_bot_token", "Nj", DISCORD),
    shape("discord_bot_token", "Nz", DISCORD),
    shape("discord_bot_token", "OD", DISCORD),
    shape("discord_bot_token", "OT", DISCORD),
    shape("stripe_key", "sk_live_", "[A-Za-z0-9]{16,255}"),
    shape("stripe_key", "sk_test_", "[A-Za-z0-9]{16,255}"),
    shape("stripe_key", "rk_live_", "[A-Za-z0-9]{16,255}"),
    shape("stripe_key", "rk_test_", "[A-Za-z0-9]{16,255}"),
    shape("signing_secret", "whsec_", "[A-Za-z0-9+/=]{24,100}"),
    shape("google_api_key", "AIza", "[A-Za-z0-9_-]{35}"),
    shape("google_oauth_secret", "GOCSPX-", "[A-Za-z0-9_-]{24,32}"),
    shape("google_oauth_token", "ya29.", "[A-Za-z0-9_.-]{20,2048}"),
    shape("google_refresh_token", "1//0", "[A-Za-z0-9_-]{40,200}"),
    shape("anthropic_key", "sk-ant-", "[A-Za-z0-9_-]{24,200}"),
    shape("openrouter_key", "sk-or-", "v[0-9]-[a-f0-9]{32,80}"),
    shape("openai_key", "sk-proj-", "[A-Za-z0-9_-]{20,220}"),
    shape("openai_key", "sk-svcacct-", "[A-Za-z0-9_-]{20,220}"),
    shape("openai_key", "sk-admin-", "[A-Za-z0-9_-]{20,220}"),
    shape("langfuse_key", "sk-lf-", "[a-f0-9-]{36}"),
    shape("openai_key", "sk-", "(?:[A-Za-z0-9]{2,12}-)?[A-Za-z0-9]{20,120}"),
    shape("hugging_face_token", "hf_", "[A-Za-z0-9]{30,50}"),
    shape("hugging_face_token", "api_org_", "[A-Za-z]{34}"),
    shape("groq_key", "gsk_", "[A-Za-z0-9]{40,80}"),
    shape("replicate_token", "r8_", "[A-Za-z0-9]{37,45}"),
    shape("perplexity_key", "pplx-", "[A-Za-z0-9]{40,64}"),
    shape("xai_key", "xai-", "[A-Za-z0-9]{60,100}"),
    shape("fireworks_key", "fw_", "[A-Za-z0-9]{22,32}"),
    shape("nvidia_key", "nvapi-", "[A-Za-z0-9_-]{50,80}"),
    shape("tavily_key", "tvly-", "[A-Za-z0-9_-]{20,64}"),
    shape("langsmith_key", "lsv2_", "(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    shape("pinecone_key", "pcsk_", "[A-Za-z0-9_]{30,90}"),
    shape("elevenlabs_key", "sk_", "[a-f0-9]{48}"),
    shape("npm_token", "npm_", "[A-Za-z0-9]{36}"),
    shape("pypi_token", "pypi-", "[A-Za-z0-9_-]{50,400}"),
    shape("rubygems_key", "rubygems_", "[a-f0-9]{48}"),
    shape("crates_io_token", "cio", "[A-Za-z0-9]{32}"),
    shape("nuget_key", "oy2", "[a-z0-9]{43}"),
    shape("docker_token", "dckr_pat_", "[A-Za-z0-9_-]{20,64}"),
    shape("docker_token", "dckr_oat_", "[A-Za-z0-9_-]{20,64}"),
    shape("sendgrid_key", "SG.", "[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16,64}"),
    shape("mailgun_key", "key-", "[a-f0-9]{32}"),
    shape("brevo_key", "xkeysib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    shape("brevo_key", "xsmtpsib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    shape("postman_key", "PMAK-", "[a-f0-9]{24}-[a-f0-9]{34}"),
    shape("resend_key", "re_", "[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,32}"),
    shape("digitalocean_token", "dop_v1_", "[a-f0-9]{64}"),
    shape("digitalocean_token", "doo_v1_", "[a-f0-9]{64}"),
    shape("digitalocean_token", "dor_v1_", "[a-f0-9]{64}"),
    shape("shopify_token", "shpat_", "[A-Fa-f0-9]{32}"),
    shape("shopify_token", "shpca_", "[A-Fa-f0-9]{32}"),
    shape("shopify_token", "shppa_", "[A-Fa-f0-9]{32}"),
    shape("shopify_token", "shpss_", "[A-Fa-f0-9]{32}"),
    shape("square_token", "sq0atp-", "[A-Za-z0-9_-]{22}"),
    shape("square_token", "sq0csp-", "[A-Za-z0-9_-]{43}"),
    shape("square_token", "EAAA", "[A-Za-z0-9_-]{60}"),
    shape("paypal_token", "access_token$", "production\\$[a-z0-9]{16}\\$[a-f0-9]{32}"),
    shape("facebook_token", "EAAC", "[A-Za-z0-9]{60,300}"),
    shape("facebook_token", "EAAG", "[A-Za-z0-9]{60,300}"),
    shape("vault_token", "hvs.", "[A-Za-z0-9_-]{24,200}"),
    shape("vault_token", "hvb.", "[A-Za-z0-9_-]{24,300}"),
    within("terraform_token", ".atlasv1.", "[A-Za-z0-9_=-]{60,80}"),
    shape("databricks_token", "dapi", "[a-f0-9]{32}(?:-[0-9])?"),
    shape("grafana_token", "glsa_", "[A-Za-z0-9]{32}_[a-f0-9]{8}"),
    shape("grafana_token", "glc_", "[A-Za-z0-9+/=]{32,400}"),
    shape("new_relic_key", "NRAK-", "[A-Z0-9]{27}"),
    shape("sentry_token", "sntrys_", "[A-Za-z0-9+/=_-]{40,400}"),
    shape("sentry_token", "sntryu_", "[a-f0-9]{64}"),
    shape("dynatrace_token", "dt0c01.", "[A-Z0-9]{24}\\.[A-Z0-9]{64}"),
    shape("linear_key", "lin_api_", "[A-Za-z0-9]{40}"),
    shape("linear_key", "lin_oauth_", "[A-Za-z0-9]{40,64}"),
    shape("notion_token", "ntn_", "[A-Za-z0-9]{40,60}"),
    shape("notion_token", "secret_", "[A-Za-z0-9]{43}"),
    shape("figma_token", "figd_", "[A-Za-z0-9_-]{36,64}"),
    shape("airtable_token", "pat", "[A-Za-z0-9]{14}\\.[a-f0-9]{64}"),
    shape("asana_token", "1/", "[0-9]{15,17}:[a-f0-9]{32}"),
    shape("atlassian_token", "ATATT3", "[A-Za-z0-9_=+/-]{60,300}"),
    shape("atlassian_token", "ATCTT3", "[A-Za-z0-9_=+/-]{60,300}"),
    shape("atlassian_token", "ATBB", "[A-Za-z0-9]{28,40}"),
    shape("hubspot_token", "pat-na1-", "[a-f0-9-]{36}"),
    shape("hubspot_token", "pat-eu1-", "[a-f0-9-]{36}"),
    shape("planetscale_token", "pscale_tkn_", "[A-Za-z0-9_.=-]{32,64}"),
    shape("planetscale_token", "pscale_pw_", "[A-Za-z0-9_.=-]{32,64}"),
    shape("supabase_token", "sbp_", "[a-f0-9]{40}"),
    shape("supabase_key", "sb_secret_", "[A-Za-z0-9_-]{24,60}"),
    shape("neon_key", "napi_", "[a-z0-9]{40,80}"),
    shape("vercel_token", "vcp_", "[A-Za-z0-9]{24,64}"),
    shape("netlify_token", "nfp_", "[A-Za-z0-9]{36,44}"),
    shape("render_key", "rnd_", "[A-Za-z0-9]{28,40}"),
    shape("fly_token", "fo1_", "[A-Za-z0-9_-]{43}"),
    shape("fly_token", "fm2_", "[A-Za-z0-9+/=_]{80,800}"),
    shape("fly_token", "FlyV1 ", "fm[0-9]_[A-Za-z0-9+/=_,]{80,2000}"),
    shape("heroku_key", "HRKU-", "[A-Za-z0-9_-]{36,64}"),
    shape("pulumi_token", "pul-", "[a-f0-9]{40}"),
    shape("doppler_token", "dp.pt.", "[A-Za-z0-9]{40,44}"),
    shape("doppler_token", "dp.st.", "(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}"),
    shape("onepassword_token", "ops_", "eyJ[A-Za-z0-9+/=_-]{200,2000}"),
    shape("tailscale_key", "tskey-", "[a-z]{3,8}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,48}"),
    shape("cloudflare_token", "cfut_", "[A-Za-z0-9_-]{36,60}"),
    shape("cloudflare_origin_key", "v1.0-", "[a-f0-9]{24}-[a-f0-9]{146}"),
    shape("jfrog_key", "AKCp", "[A-Za-z0-9]{64,75}"),
    shape("sonar_token", "sqp_", "[a-f0-9]{40}"),
    shape("sonar_token", "squ_", "[a-f0-9]{40}"),
    shape("circleci_token", "CCIPAT_", "[A-Za-z0-9]{20,24}_[a-f0-9]{40}"),
    shape("buildkite_token", "bkua_", "[a-f0-9]{40}"),
    shape("typeform_token", "tfp_", "[A-Za-z0-9_.=-]{40,64}"),
    shape("duffel_token", "duffel_live_", "[A-Za-z0-9_=-]{43}"),
    shape("easypost_key", "EZAK", "[A-Za-z0-9]{54}"),
    shape("mapbox_token", "sk.eyJ", "[A-Za-z0-9_-]{40,200}\\.[A-Za-z0-9_-]{20,30}"),
    shape("alibaba_key", "LTAI", "[A-Za-z0-9]{12,24}"),
    shape("tencent_key", "AKID", "[A-Za-z0-9]{32}"),
    shape("yandex_key", "AQVN", "[A-Za-z0-9_-]{35,38}"),
    shape("telegram_bot_token", ":AA", "[A-Za-z0-9_-]{32,33}"),
    shape("jwt", "eyJ", "[A-Za-z0-9_-]{8,2000}\\.eyJ[A-Za-z0-9_-]{8,6000}\\.[A-Za-z0-9_-]{16,1000}"),
    shape("azure_storage_key", "AccountKey=", "([A-Za-z0-9+/]{40,90}={0,2})"),
    shape("azure_shared_access_key", "SharedAccessKey=", "([A-Za-z0-9+/]{40,90}={0,2})"),
    within("azure_sas_signature", "&sig=", "([A-Za-z0-9%+/]{40,100}(?:=|%3[Dd])?)"),
    within("azure_sas_signature", "?sig=", "([A-Za-z0-9%+/]{40,100}(?:=|%3[Dd])?)"),
    within("mailchimp_key", "-us1", "[0-9]?"),
    within("mailchimp_key", "-us2", "[0-9]?"),
    within("mailchimp_key", "-us3", ""),
    within("mailchimp_key", "-us4", ""),
    within("mailchimp_key", "-us5", ""),
    within("mailchimp_key", "-us6", ""),
    within("mailchimp_key", "-us7", ""),
    within("mailchimp_key", "-us8", ""),
    within("mailchimp_key", "-us9", ""),
    within("azure_client_secret", "8Q~", "[A-Za-z0-9_.~-]{31,34}"),
    within("azure_client_secret", "7Q~", "[A-Za-z0-9_.~-]{31,34}"),
    shape("twilio_key", "SK", "[a-f0-9]{32}"),
    shape("twilio_account_sid", "AC", "[a-f0-9]{32}"),
];

static COMPILED: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    let compile = |shape: &Shape| Regex::new(&format!("^{}{}", regex::escape(shape.prefix), shape.rest)).ok();
    SHAPES.iter().map(compile).collect()
});

/// The token of shape `index` that starts at `start`, if one does.
pub(crate) fn at(doc: &Doc, index: usize, start: usize) -> Option<Finding> {
    let shape = SHAPES.get(index)?;
    if !doc.bytes.get(start + shape.prefix.len())?.is_ascii_graphic() {
        return None;
    }
    if shape.alone && start > 0 && joins(doc.bytes, start) {
        return None;
    }
    let window = &doc.text[start..doc.text.floor_char_boundary((start + REACH).min(doc.text.len()))];
    let found = COMPILED.get(index)?.as_ref()?.captures(window)?;
    let value = found.get(1).or_else(|| found.get(0))?;
    let (mut from, mut to) = (start + value.start(), start + value.end());
    if doc.bytes.get(to).is_some_and(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    match shape.name {
        "telegram_bot_token" => from -= digits_before(doc.bytes, from)?,
        "terraform_token" => from -= alnum_before(doc.bytes, from, 14)?,
        "azure_client_secret" => from -= alnum_before(doc.bytes, from, 3)?,
        "mailchimp_key" => from -= hex_before(doc.bytes, from)?,
        _ => {}
    }
    while to > from && matches!(doc.bytes[to - 1], b'.' | b'-') {
        to -= 1;
    }
    let token = &doc.text[from..to];
    let body = token.get(shape.prefix.len()..).unwrap_or(token);
    if is_fake_token(token) || !lively(shape.name, body) {
        return None;
    }
    Some(Finding {
        class: Class::AccessKey,
        detector: shape.name,
        start: from,
        end: to,
        confidence: Confidence::VeryLikely,
    })
}

/// Whether what stands before `start` makes the prefix the tail of a longer word.
fn joins(bytes: &[u8], start: usize) -> bool {
    match bytes[start - 1] {
        b'_' => true,
        b'-' => start > 1 && bytes[start - 2].is_ascii_alphanumeric(),
        _ => false,
    }
}

/// Names such as `sk-learn-contrib-imbalanced` and `fw_something` have the prefix but are words.
fn lively(name: &str, body: &str) -> bool {
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    let capitals = body.bytes().filter(u8::is_ascii_uppercase).count();
    match name {
        "aws_access_key_id" => body.bytes().any(|b| !b.is_ascii_uppercase()) || distinct(body) > 8,
        "fireworks_key" | "resend_key" | "alibaba_key" | "vercel_token" | "render_key" | "atlassian_token"
        | "crates_io_token" => digits > 0 && capitals > 0,
        "nuget_key" | "openai_key" | "slack_token" => digits > 0,
        _ => distinct(body) >= 6,
    }
}

fn distinct(value: &str) -> usize {
    let mut seen = [false; 256];
    value.bytes().for_each(|b| seen[b as usize] = true);
    seen.iter().filter(|yes| **yes).count()
}

/// How many bytes back a Telegram bot's number begins: 8 to 10 digits that stand alone, or follow `bot`.
fn digits_before(bytes: &[u8], at: usize) -> Option<usize> {
    let count = bytes[..at].iter().rev().take(12).take_while(|b| b.is_ascii_digit()).count();
    (8..=10).contains(&count).then_some(count)
}

/// The 32 hexadecimal digits of a Mailchimp key, before its data centre.
fn hex_before(bytes: &[u8], at: usize) -> Option<usize> {
    let count = bytes[..at].iter().rev().take(33).take_while(|b| b.is_ascii_alphanumeric()).count();
    (count == 32 && crate::entropy::is_hex(std::str::from_utf8(&bytes[at - 32..at]).ok()?)).then_some(count)
}

fn alnum_before(bytes: &[u8], at: usize, count: usize) -> Option<usize> {
    let from = at.checked_sub(count)?;
    let inside = bytes[from..at].iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'~' | b'.' | b'-'));
    let alone = from == 0 || !bytes[from - 1].is_ascii_alphanumeric();
    (inside && alone).then_some(count)
}

/// A secret key of AWS has no prefix; it stands near its id: 40 letters, digits, `/` and `+` within the next line.
pub(crate) fn companion(doc: &Doc, id: &Finding, found: &mut Vec<Finding>) {
    if id.detector != "aws_access_key_id" {
        return;
    }
    let end = (id.end + 160).min(doc.bytes.len());
    let mut at = id.end;
    while at < end {
        let run = doc.bytes[at..]
            .iter()
            .take(48)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+'))
            .count();
        if run == 40 {
            let value = &doc.text[at..at + run];
            if is_random(value, true) && !crate::entropy::is_hex(value) && !is_fake_token(value) {
                found.push(Finding {
                    class: Class::AccessKey,
                    detector: "aws_secret_access_key",
                    start: at,
                    end: at + run,
                    confidence: Confidence::VeryLikely,
                });
            }
            return;
        }
        at += run.max(1);
    }
}
