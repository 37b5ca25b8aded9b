//! Secrets of settings and key files as sealed credentials (spec §3.4, §8.3). In the clear they go nowhere; under the
//! passphrase of an encrypted export they travel, one credential for each file, and are put back into it when it is
//! opened with the same passphrase. The specification names cipher and key derivation and leaves salt, tag, associated
//! data and plaintext open: we write them down in the row (`encryption.layout`).
use super::partitions::stable_v5;
use super::plan::Row;
use crate::{Cipher, FormatError, Passphrase, Sealed};
use base64::{Engine, prelude::BASE64_STANDARD};
use keepsake_model::json::Tree;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Name of the layout.
const LAYOUT: &str = "keepsake-credential-v1";
/// For who has to open it without us.
const NOTE: &str = "key = Argon2id 0x13 of the passphrase, 32 bytes; encrypted_payload = ciphertext followed by the 16 \
                    byte tag; associated data = agent_id|id in UTF-8; plaintext = JSON {file, content}, content in base64";
/// Each one tried costs a tenth of a second and 64 MiB: a file may not ask for any number of them.
const TRIES: usize = 16;

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
        let one = |(name, bytes): (&String, &Vec<u8>)| {
            let id = stable_v5(&format!("secrets:{agent}:{name}")).to_string();
            let plain = serde_json::json!({"file": name, "content": BASE64_STANDARD.encode(bytes)}).to_string();
            let sealed = passphrase.seal(Cipher::XChaCha20Poly1305, &aad(agent, &id), plain.as_bytes())?;
            let runtime = name.split('/').nth(1).unwrap_or("workspace");
            let text = row(&id, agent, runtime, name, &sealed, created);
            Ok(Row { value: id, scope: String::new(), runtime: String::new(), text, file: None })
        };
        self.files.iter().map(one).collect()
    }
}

fn aad(agent: &str, id: &str) -> Vec<u8> {
    format!("{agent}|{id}").into_bytes()
}

fn row(id: &str, agent: &str, runtime: &str, name: &str, sealed: &Sealed, created: &str) -> String {
    serde_json::json!({
        "id": id,
        "agent_id": agent,
        "service": runtime,
        "credential_type": "custom",
        "label": name,
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
            Some((name, bytes)) => {
                self.files.insert(name, bytes);
                true
            }
            None => false,
        }
    }
}

fn opened(doc: &Tree, passphrase: &dyn Passphrase) -> Option<(String, Vec<u8>)> {
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
    let plain = passphrase.open(&aad(&text(doc, "agent_id")?, &text(doc, "id")?), &sealed).ok()?;
    let plain = Tree::parse(std::str::from_utf8(&plain).ok()?, 8).ok()?;
    let name = text(&plain, "file").filter(|n| n.starts_with("raw/") && crate::openclaw::files::is_safe(n))?;
    Some((name, bytes(&plain, "content")?))
}
