//! Secrets of settings and key files as sealed credentials (spec §3.4, §8.3). In the clear they go nowhere; under the
//! passphrase of an encrypted export they travel, one credential for all of them, and are put back when the archive is
//! opened with the same passphrase. The specification names cipher and key derivation and leaves salt, tag, associated
//! data and plaintext open: we write them down in the row (`encryption.layout`).
use super::partitions::stable_v5;
use super::plan::Row;
use base64::{Engine, prelude::BASE64_STANDARD};
use mementory_format::{Cipher, FormatError, Passphrase, Sealed};
use mementory_json::Tree;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Name of the layout.
const LAYOUT: &str = "keepsake-credential-v1";
/// For who has to open it without us.
const NOTE: &str = "key = Argon2id 0x13 of the passphrase, 32 bytes; encrypted_payload = ciphertext followed by the 16 \
                    byte tag; associated data = agent_id|id in UTF-8; plaintext = JSON {files: [{file, content}]}, content in base64";
/// We write one for each archive; a file may not ask for any number of them.
const TRIES: usize = 4;
/// What we write: 64 MiB, 3 passes, 4 lanes. A row that asks for more is not of this layout.
const COSTS: (u32, u32, u32) = (64 << 10, 3, 4);

/// SHA-256 in hex.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Files with secrets, by the name that they have in the archive.
#[derive(Default)]
pub(super) struct Secrets {
    wanted: bool,
    files: BTreeMap<String, Vec<u8>>,
}

impl Secrets {
    /// Collects them if there is a passphrase to seal them under.
    pub(super) fn new(passphrase: Option<&dyn Passphrase>) -> Self {
        Self { wanted: passphrase.is_some(), files: BTreeMap::new() }
    }

    /// Will they travel?
    pub(super) fn wanted(&self) -> bool {
        self.wanted
    }

    /// A file as it is, secrets included.
    pub(super) fn add(&mut self, name: String, bytes: Vec<u8>) {
        if self.wanted {
            self.files.insert(name, bytes);
        }
    }

    /// The rows of `credentials.json`.
    pub(super) fn rows(
        &self,
        passphrase: Option<&dyn Passphrase>,
        agent: &str,
        created: &str,
    ) -> Result<Vec<Row>, FormatError> {
        let Some(passphrase) = passphrase else { return Ok(Vec::new()) };
        if self.files.is_empty() {
            return Ok(Vec::new());
        }
        let files: Vec<serde_json::Value> = self
            .files
            .iter()
            .map(|(name, bytes)| serde_json::json!({"file": name, "content": BASE64_STANDARD.encode(bytes)}))
            .collect();
        let id = stable_v5(&format!("secrets:{agent}")).to_string();
        let plain = serde_json::json!({"files": files}).to_string();
        let sealed = passphrase.seal(Cipher::XChaCha20Poly1305, &aad(agent, &id), plain.as_bytes())?;
        let runtime = self.files.keys().next().and_then(|name| name.split('/').nth(1)).unwrap_or("workspace");
        let text = row(&id, agent, runtime, &sealed, created);
        Ok(vec![Row { value: id, scope: String::new(), runtime: String::new(), text, file: None }])
    }
}

fn aad(agent: &str, id: &str) -> Vec<u8> {
    format!("{agent}|{id}").into_bytes()
}

fn row(id: &str, agent: &str, runtime: &str, sealed: &Sealed, created: &str) -> String {
    serde_json::json!({
        "id": id,
        "agent_id": agent,
        "service": runtime,
        "credential_type": "custom",
        "label": "secrets of settings and key files",
        "encrypted_payload": BASE64_STANDARD.encode(&sealed.ciphertext),
        "encryption": {
            "algorithm": "xchacha20-poly1305",
            "kdf": "argon2id",
            "kdf_params": {
                "memory_cost": sealed.memory_kib,
                "time_cost": sealed.passes,
                "parallelism": sealed.lanes,
                "salt": BASE64_STANDARD.encode(&sealed.salt),
                "version": 19,
                "output_length": 32,
            },
            "nonce": BASE64_STANDARD.encode(&sealed.nonce),
            "layout": LAYOUT,
            "layout_note": NOTE,
        },
        "created_at": created,
    })
    .to_string()
}

/// Is this a row of this layout?
pub(super) fn is_ours(doc: &Tree) -> bool {
    doc.get("encryption").and_then(|e| e.get("layout")).and_then(Tree::as_str) == Some(LAYOUT)
}

/// Opens rows of this layout, a few of them.
#[derive(Default)]
pub(super) struct Opener {
    tried: usize,
    /// Files with their secrets, by name in the archive.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Opener {
    /// Takes a row's file in. False: another passphrase, damage, or more rows than are tried; the row stays closed.
    pub(super) fn open(&mut self, doc: &Tree, passphrase: &dyn Passphrase) -> bool {
        self.tried += 1;
        if self.tried > TRIES {
            return false;
        }
        match opened(doc, passphrase) {
            Some(files) => {
                self.files.extend(files);
                true
            }
            None => false,
        }
    }
}

fn opened(doc: &Tree, passphrase: &dyn Passphrase) -> Option<Vec<(String, Vec<u8>)>> {
    let text = |tree: &Tree, key: &str| tree.get(key).and_then(Tree::as_str).map(str::to_owned);
    let bytes = |tree: &Tree, key: &str| BASE64_STANDARD.decode(text(tree, key)?).ok();
    let encryption = doc.get("encryption")?;
    let params = encryption.get("kdf_params")?;
    let number = |key: &str| match params.get(key) {
        Some(Tree::Number(token)) => token.parse::<u32>().ok(),
        _ => None,
    };
    let sealed = Sealed {
        cipher: Cipher::XChaCha20Poly1305,
        salt: bytes(params, "salt")?,
        memory_kib: number("memory_cost")?,
        passes: number("time_cost")?,
        lanes: number("parallelism")?,
        nonce: bytes(encryption, "nonce")?,
        ciphertext: bytes(doc, "encrypted_payload")?,
    };
    let (memory, passes, lanes) = COSTS;
    if sealed.memory_kib > memory || sealed.passes > passes || sealed.lanes > lanes {
        return None;
    }
    let plain = passphrase.open(&aad(&text(doc, "agent_id")?, &text(doc, "id")?), &sealed).ok()?;
    let plain = Tree::parse(std::str::from_utf8(&plain).ok()?, 8).ok()?;
    let Some(Tree::Array(files)) = plain.get("files") else { return None };
    let safe = |n: &String| n.starts_with("raw/") && mementory_formats_vendor::openclaw::files::is_safe(n);
    files.iter().map(|file| Some((text(file, "file").filter(safe)?, bytes(file, "content")?))).collect()
}
