//! Manages the keys that this vault trusts or has seen, and checks the signature of a file before it is imported.
use super::{context::Context, now, time};
use crate::{ApiError, ApiResult, Job, files, portable::fingerprint, trust::public_key, types::*};
use mementory_formats::Passphrase;
use mementory_vault::KnownKey;
use std::{collections::HashSet, path::Path};

/// The vault's own key, and the keys that it trusts or has seen.
#[derive(Clone, Copy)]
pub struct KeyRing<'s> {
    context: &'s Context,
}

impl<'s> KeyRing<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl KeyRing<'_> {
    /// Lists the vault's own key, the trusted keys, and the keys seen on imported files.
    pub fn list(&self) -> ApiResult<Keys> {
        let (trusted, seen) = self.context.vault.key_ring().known()?.into_iter().partition::<Vec<_>, _>(|k| k.trusted);
        let view = |keys: Vec<KnownKey>| keys.into_iter().map(|k| known_key_info(&k)).collect();
        Ok(Keys { own: vec![self.own_key()], trusted: view(trusted), seen: view(seen) })
    }

    /// Trusts a public key (hex or did:key), with a name if one is given.
    ///
    /// # Errors
    /// `bad_key` if it is not a public key.
    pub fn trust(&self, key: &str, name: Option<&str>) -> ApiResult<Keys> {
        let (algorithm, bytes) = public_key(key)?;
        let name = name.map(str::trim).filter(|name| !name.is_empty());
        let _guard = self.context.write_guard();
        self.context.vault.key_ring().trust(&hex::encode(bytes), algorithm, name, now())?;
        self.list()
    }

    /// Removes a trusted or seen key from the vault. `key` is the key or its fingerprint.
    ///
    /// # Errors
    /// `not_found`.
    pub fn forget(&self, key: &str) -> ApiResult<Keys> {
        let wanted = key.trim().to_ascii_lowercase();
        let parsed_key = public_key(key).ok().map(|(_, bytes)| hex::encode(bytes));
        let known = self.context.vault.key_ring().known()?;
        let known_key =
            known.iter().find(|k| Some(&k.key) == parsed_key.as_ref() || known_key_info(k).fingerprint == wanted);
        let _guard = self.context.write_guard();
        if let Some(known_key) = known_key
            && self.context.vault.key_ring().forget(&known_key.key, now())?
        {
            return self.list();
        }
        Err(ApiError::new("not_found", 1, "This vault does not know that key. Nothing was changed."))
    }

    /// Validates a file, and reports who signed it and whether this vault knows the signer's key. Changes nothing.
    ///
    /// # Errors
    /// As for [`files::validate`]. A damaged file is not an error, because the result reports the damage.
    pub fn check_file(
        &self,
        path: &Path,
        format: Option<&str>,
        passphrase: Option<&dyn Passphrase>,
        job: &Job,
    ) -> ApiResult<FileCheck> {
        let place = path.display().to_string();
        let validation =
            match files::validate(path, &files::Check { format, passphrase, ..files::Check::default() }, job) {
                Ok(validation) => validation,
                Err(error) if error.code == "not_supported" => return Ok(unchecked_result(place, format)),
                Err(error) => return Err(error),
            };
        let signature = validation.signature;
        let signer = match (&signature.key, signature.valid) {
            (Some(key), Some(true)) => {
                Some(self.signer_info(key, signature.algorithm.as_deref().unwrap_or_default().to_ascii_lowercase())?)
            }
            _ => None,
        };
        Ok(FileCheck {
            path: place,
            format: validation.format,
            checked: true,
            ok: validation.ok && signature.valid != Some(false),
            records: validation.records,
            signature,
            signer,
            errors: validation.errors,
            warnings: validation.warnings,
        })
    }

    fn signer_info(&self, key: &str, algorithm: String) -> ApiResult<SignerInfo> {
        let keys = self.list()?;
        let lists = [("own", keys.own), ("trusted", keys.trusted), ("seen", keys.seen)];
        let known = lists.into_iter().find_map(|(trust_status, list)| {
            let key_info = list.into_iter().find(|k| k.public_key == key)?;
            Some(SignerInfo { key: key_info, trust_status: trust_status.into() })
        });
        Ok(known
            .unwrap_or_else(|| SignerInfo { key: new_key_info(algorithm, key.to_owned()), trust_status: "new".into() }))
    }

    /// Stores the keys that signed an import as seen. Errors are ignored, because the import is already committed.
    pub(super) fn pin_signers(&self, signers: Vec<(String, Vec<u8>)>) {
        let own_key = self.own_key().public_key;
        for (algorithm, key) in signers {
            let key = hex::encode(key);
            if key != own_key {
                let _ = self.context.vault.key_ring().pin(&key, &algorithm, now());
            }
        }
    }

    /// Returns all known keys: the vault's own key, the trusted keys, and the keys seen before.
    pub(super) fn known_keys(&self) -> ApiResult<HashSet<Vec<u8>>> {
        let known =
            self.context.vault.key_ring().known()?.into_iter().map(|k| k.key).chain([self.own_key().public_key]);
        Ok(known.filter_map(|key| hex::decode(key).ok()).collect())
    }

    fn own_key(&self) -> KeyInfo {
        let signer = self.context.vault.exporter().signer();
        new_key_info(signer.algorithm().into(), hex::encode(signer.public_key()))
    }
}

fn known_key_info(known: &KnownKey) -> KeyInfo {
    KeyInfo {
        name: known.name.clone(),
        since: Some(time(known.since)),
        ..new_key_info(known.algorithm.clone(), known.key.clone())
    }
}

/// Makes the information about a key that has no name and has not been seen before.
fn new_key_info(algorithm: String, public_key: String) -> KeyInfo {
    let fingerprint = fingerprint(&hex::decode(&public_key).unwrap_or_default());
    KeyInfo { algorithm, public_key, fingerprint, name: None, since: None }
}

/// The result for a file whose format has no validator.
fn unchecked_result(path: String, format: Option<&str>) -> FileCheck {
    FileCheck {
        path,
        format: format.map(str::to_owned),
        checked: false,
        ok: false,
        records: 0,
        signature: CheckedSignature::default(),
        signer: None,
        errors: Vec::new(),
        warnings: Vec::new(),
    }
}
