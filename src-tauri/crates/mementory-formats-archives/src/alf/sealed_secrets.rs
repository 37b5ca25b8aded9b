//! Seals the secrets of settings and key files in a credential (spec §3.4, §8.3), because secrets are never exported in
//! the clear. An export with a passphrase contains them in one credential, which is sealed with this passphrase. An
//! import with the same passphrase restores them. The specification defines the cipher and the key derivation, but not
//! where salt and tag are stored, nor the associated data and the plaintext. The row therefore names our layout in
//! `encryption.layout`.
use super::document_row::Row;
use super::manifest::unsafe_name;
use super::partitions::stable_v5;
use base64::{Engine, prelude::BASE64_STANDARD};
use mementory_format::{Cipher, FormatError, Passphrase, Sealed};
use mementory_json::Tree;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Id of our layout of a sealed credential.
const LAYOUT_ID: &str = "keepsake-credential-v1";
/// Explains the layout to people who open the credential without Mementory.
const LAYOUT_NOTE: &str = "key = Argon2id 0x13 of the passphrase, 32 bytes; encrypted_payload = ciphertext followed by the 16 \
                    byte tag; associated data = agent_id|id in UTF-8; plaintext = JSON {files: [{file, content}]}, content in base64";
/// Largest number of rows that are opened. Each row requires a slow key derivation. Our archives have only one such
/// row.
const MAX_OPENED_ROWS: usize = 4;
/// Argon2 costs: memory in KiB, passes, lanes. Exports use exactly these costs, and rows with higher costs are refused.
const MAX_KDF_COSTS: (u32, u32, u32) = (64 << 10, 3, 4);

/// SHA-256 in hex.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Files with secrets, by their name in the archive.
#[derive(Default)]
pub(super) struct Secrets {
    are_sealed: bool,
    files: BTreeMap<String, Vec<u8>>,
    /// Maps the name under which a renamed file was added to the name of its entry in the archive.
    renamed: BTreeMap<String, String>,
}

impl Secrets {
    /// Creates the collection. Files are collected only if there is a passphrase to seal them with.
    pub(super) fn new(passphrase: Option<&dyn Passphrase>) -> Self {
        Self { are_sealed: passphrase.is_some(), ..Self::default() }
    }

    /// True if there is a passphrase, so that files with secrets are sealed instead of being left out.
    pub(super) fn are_sealed(&self) -> bool {
        self.are_sealed
    }

    /// Adds a file that contains secrets.
    pub(super) fn add(&mut self, name: String, bytes: Vec<u8>) {
        if self.are_sealed {
            self.files.insert(name, bytes);
        }
    }

    /// Sets the name of the entry that contains the file `name` in the archive. An import looks for the secrets of a
    /// file under the name of its entry.
    pub(super) fn rename(&mut self, name: String, entry_name: &str) {
        if self.files.contains_key(&name) {
            self.renamed.insert(name, entry_name.to_owned());
        }
    }

    /// The row for `credentials.json`, if there are files and a passphrase.
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
            .map(|(name, bytes)| {
                let name = self.renamed.get(name).unwrap_or(name);
                serde_json::json!({"file": name, "content": BASE64_STANDARD.encode(bytes)})
            })
            .collect();
        let id = stable_v5(&format!("secrets:{agent}")).to_string();
        let secrets_json = serde_json::json!({"files": files}).to_string();
        let sealed_secrets =
            passphrase.seal(Cipher::XChaCha20Poly1305, &associated_data(agent, &id), secrets_json.as_bytes())?;
        let runtime = self.files.keys().next().and_then(|name| name.split('/').nth(1)).unwrap_or("workspace");
        let text = row(&id, agent, runtime, &sealed_secrets, created);
        Ok(vec![Row { value: id, scope: String::new(), runtime: String::new(), text, file: None }])
    }
}

fn associated_data(agent: &str, id: &str) -> Vec<u8> {
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
            "layout": LAYOUT_ID,
            "layout_note": LAYOUT_NOTE,
        },
        "created_at": created,
    })
    .to_string()
}

/// True if the row has our layout.
pub(super) fn has_our_layout(doc: &Tree) -> bool {
    doc.get("encryption").and_then(|e| e.get("layout")).and_then(Tree::as_str) == Some(LAYOUT_ID)
}

/// Opens rows that have our layout.
#[derive(Default)]
pub(super) struct Opener {
    tried_rows: usize,
    /// Files from the opened rows, by their name in the archive.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Opener {
    /// Opens a row and collects its files. Returns false for a wrong passphrase, a damaged row, costs above the limit,
    /// or too many rows.
    pub(super) fn open(&mut self, doc: &Tree, passphrase: &dyn Passphrase) -> bool {
        self.tried_rows += 1;
        if self.tried_rows > MAX_OPENED_ROWS {
            return false;
        }
        match open_row(doc, passphrase) {
            Some(files) => {
                self.files.extend(files);
                true
            }
            None => false,
        }
    }
}

fn open_row(doc: &Tree, passphrase: &dyn Passphrase) -> Option<Vec<(String, Vec<u8>)>> {
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
    let (memory, passes, lanes) = MAX_KDF_COSTS;
    if sealed.memory_kib > memory || sealed.passes > passes || sealed.lanes > lanes {
        return None;
    }
    let decrypted = passphrase.open(&associated_data(&text(doc, "agent_id")?, &text(doc, "id")?), &sealed).ok()?;
    let decrypted = Tree::parse(std::str::from_utf8(&decrypted).ok()?, 8).ok()?;
    let Some(Tree::Array(files)) = decrypted.get("files") else { return None };
    // Only names that are unsafe for an entry are refused. A stricter rule would make all files of the row unreadable
    // because of one file with a name such as `a:b.json`.
    let is_safe_name = |n: &String| n.starts_with("raw/") && !unsafe_name(n);
    files.iter().map(|file| Some((text(file, "file").filter(is_safe_name)?, bytes(file, "content")?))).collect()
}
