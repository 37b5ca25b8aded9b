//! Writes memories as one export, which is encrypted for a new owner, or for the owner of an earlier export (the base).
use super::object::{Opened, WRITTEN_VERSION, proven_scopes, seal, trust_of_owners, wrap_label};
use super::payload::{Author, CONFIDENCE, is_from_amem, payload, scope_name};
use super::read::{derivation, parse, record, unlock};
use super::wire::{EXPORT_VERSION, Export, Id, KeyId, Scope, VaultPart, key_id, tail_of_export};
use super::{ID, cbor};
use ciborium::Value;
use mementory_format::{FormatError, KeyPair, Passphrase, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::{Export as Report, MEMORY_KINDS, nothing_to_write, words};
use mementory_formats_shared::new_files::NewFile;
use mementory_model::{Kind, LossKind, Record, RecordKey};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Writes the new file `out`. Without `out`, only the report is produced, which needs no passphrase.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let base = options.base.as_deref().map(read_base).transpose()?;
    let mut report = Report::new(ID, &EXPORT_VERSION.to_string(), source, options, false);
    let description = source.description();
    // Without `out`, the key of the author is unknown, so a default key is used. The report is the same, because it
    // does not contain the key, and because neither the default key nor a new random key equals the key of an author in
    // the vault.
    let mut author =
        Author { key: KeyId::default(), generator: description.generator, now: description.now, strip: report.strip };
    let mut known_key_ids = Vec::new();
    if let Some((base, _)) = &base {
        (author.key, known_key_ids) = (key_id(&base.signing_key), base.known_key_ids());
    }
    let mut file = match out {
        Some(out) => Some(OpenExport::create(out, base, options.passphrase.as_deref(), &contents(source, &report)?)?),
        None => None,
    };
    if let Some(file) = &file {
        author.key = key_id(&file.keys.signing_key());
    }
    let mut ids = Ids::default();
    source.records(&mut |stored| {
        if let Some(reason) = reason_to_withhold(&report, &stored) {
            report.withhold(reason);
            return Ok(());
        }
        let Some(id) = ids.assign(&stored, report.strip) else { return Ok(()) };
        let scope = scope_name(&stored.record, report.strip);
        let payload = payload(&stored, &author);
        if let Some(file) = &mut file {
            file.add(&payload, id, scope)?;
        }
        let trust = trust_of_owners(&payload, &known_key_ids);
        let opened = Opened { id: hex::encode(id), scope: scope.into(), version: WRITTEN_VERSION, payload, trust };
        report_written(&mut report, &stored, &opened);
        Ok(())
    })?;
    if let Some(file) = file {
        file.finish()?;
    }
    report.finish(source, options)
}

/// Returns the reason to withhold a record. None if it is written. An entity or relation without a text and a title is
/// withheld.
fn reason_to_withhold(report: &Report, stored: &StoredRecord) -> Option<&'static str> {
    let is_bare = words(&stored.record).trim().is_empty();
    report.reason_to_withhold(stored, &MEMORY_KINDS).or_else(|| is_bare.then_some("no_text"))
}

/// Adds the losses of a written memory to the report, by comparing the record with the record that is read back.
fn report_written(report: &mut Report, stored: &StoredRecord, written: &Opened) {
    let original = &stored.record;
    let mut mapped = record(written).unwrap_or_else(|| Record::new(Kind::Memory, RecordKey::new(ID, ""), ""));
    if is_from_amem(original) && !stored.edited && has_same_content(original, &mapped) {
        // All members of the content are written unchanged, so the different signature is not a loss.
        mapped.verbatim.clone_from(&original.verbatim);
    }
    let mut in_other_form = vec!["source"];
    if original.times.created.is_some() {
        in_other_form.push("times");
    }
    if original.text.trim().is_empty() {
        in_other_form.push("title");
    }
    report.count_written_with(stored, &mapped, &in_other_form);
    let losses = &mut report.report.losses;
    if original.confidence.is_none() {
        let note = format!("the format requires a confidence, and {CONFIDENCE} is written");
        losses.add(&stored.id, "confidence", LossKind::Narrowed, &note);
    }
}

/// True if two verbatims have the same content, except for the members that depend on the signer: the key of the
/// author, the trust, and the owner's statement about another author.
fn has_same_content(original: &Record, written: &Record) -> bool {
    let content = |record: &Record| {
        let mut content: serde_json::Value = serde_json::from_str(&record.verbatim.as_ref()?.text).ok()?;
        let payload = content.get_mut("payload")?.as_object_mut()?;
        payload.retain(|key, _| key != "5" && key != "20");
        payload.get_mut("4").and_then(|source| source.as_object_mut()).map(|source| source.remove("2"));
        Some(content.get("payload")?.clone())
    };
    content(original).is_some_and(|original| Some(original) == content(written))
}

/// Assigns the ids of the memories that are written.
#[derive(Default)]
struct Ids {
    seen: HashSet<String>,
    used_ids: HashSet<Id>,
}

impl Ids {
    /// Returns the id of a memory: the id in the export from which it was read, or else its vault id. Both are random
    /// or keyed, as the format requires, so they reveal nothing. None if the same record was already assigned an id.
    fn assign(&mut self, stored: &StoredRecord, strip: bool) -> Option<Id> {
        if !self.seen.insert(stored.id.clone()) {
            return None;
        }
        let own_id =
            stored.record.origin_id.as_deref().filter(|_| is_from_amem(&stored.record) && !strip).and_then(id_of);
        // A memory that this program exported and imported again has the vault id of its original as its id. If the
        // original is exported too, the first two candidates may already be used, so there is a third one.
        let mut other = Id::default();
        other.copy_from_slice(&Sha256::digest(&stored.id)[..16]);
        let candidates = [own_id, id_of(&stored.id), Some(other)];
        candidates.into_iter().flatten().find(|id| self.used_ids.insert(*id))
    }
}

/// Parses an id that is written in hex. None if the text is not an id.
fn id_of(text: &str) -> Option<Id> {
    hex::decode(text).ok()?.try_into().ok()
}

/// The number of memories in an export, and the names of their scopes. Both must be known before the export is written,
/// because its head contains them.
#[derive(Default)]
struct Contents {
    memories: usize,
    scopes: BTreeSet<String>,
}

impl Contents {
    fn has_scope(&self, scope: &Scope) -> bool {
        self.scopes.contains(&scope.name)
    }
}

fn contents(source: &mut dyn RecordSource, report: &Report) -> Result<Contents, FormatError> {
    let (mut out, mut ids) = (Contents::default(), Ids::default());
    source.records(&mut |stored| {
        let is_written = reason_to_withhold(report, &stored).is_none() && ids.assign(&stored, report.strip).is_some();
        if is_written {
            out.memories += 1;
            let name = scope_name(&stored.record, report.strip);
            if !out.scopes.contains(name) {
                out.scopes.insert(name.to_owned());
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// Reads the base, which is the earlier export for whose owner the memories are encrypted. Also returns its path as
/// text.
fn read_base(path: &Path) -> Result<(Export, String), FormatError> {
    let place = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| FormatError::io(&place, error))?;
    Ok((parse(&bytes, &place)?, place))
}

/// Returns the scopes of the base that are used again, because memories of these scopes are written.
///
/// # Errors
/// `base_scope_unproven`: no memory in one of these scopes proves that the key of the scope belongs to the owner.
fn scopes_of_base(
    base: &Export,
    keys: &dyn KeyPair,
    contents: &Contents,
    place: &str,
) -> Result<HashMap<Vec<u8>, Scope>, FormatError> {
    let proven_ids = proven_scopes(base, keys);
    let mut scopes: BTreeMap<&str, (&Vec<u8>, &Scope)> = BTreeMap::new();
    for (id, scope) in base.scopes.iter().filter(|(id, scope)| proven_ids.contains(*id) && contents.has_scope(scope)) {
        let chosen = scopes.entry(&scope.name).or_insert((id, scope));
        // Scopes should have different names. If two have the same name, the one with the smaller id is used, so that
        // the choice does not depend on the order of the hash map.
        *chosen = if id < chosen.0 { (id, scope) } else { *chosen };
    }
    let is_missing = |scope: &&Scope| contents.has_scope(scope) && !scopes.contains_key(scope.name.as_str());
    if let Some(scope) = base.scopes.values().find(is_missing) {
        let message = format!(
            "no memory of the scope {:?} in this export shows that the scope's key is the owner's; export without it, or \
             name an export with a memory in this scope",
            scope.name
        );
        return Err(FormatError::invalid("base_scope_unproven", place, message));
    }
    Ok(scopes.into_values().map(|(id, scope)| (id.clone(), scope.clone())).collect())
}

/// An export that is being written.
struct OpenExport {
    file: NewFile,
    keys: Box<dyn KeyPair>,
    /// Maps the names of scopes to their ids.
    scope_ids: HashMap<String, Vec<u8>>,
    scopes: HashMap<Vec<u8>, Scope>,
    wrapped_keys: BTreeMap<Id, Vec<u8>>,
}

impl OpenExport {
    fn create(
        out: &Path,
        base: Option<(Export, String)>,
        passphrase: Option<&dyn Passphrase>,
        contents: &Contents,
    ) -> Result<Self, FormatError> {
        if contents.memories == 0 {
            return Err(nothing_to_write(ID));
        }
        let Some(passphrase) = passphrase else {
            let message = "a file of ApertoMemory is always encrypted; give a passphrase for it";
            return Err(FormatError::invalid("passphrase_needed", ID, message));
        };
        let (salt, keys, known_keys, mut scopes) = match base {
            Some((base, place)) => {
                let keys = unlock(&base, Some(passphrase), &place)?;
                let scopes = scopes_of_base(&base, keys.as_ref(), contents, &place)?;
                (base.salt, keys, base.known_keys, scopes)
            }
            None => {
                let salt = passphrase.random_id()?.to_vec();
                let keys = passphrase.key_pair(&derivation(&salt))?;
                (salt, keys, Vec::new(), HashMap::new())
            }
        };
        let mut scope_ids: HashMap<String, Vec<u8>> =
            scopes.iter().map(|(id, scope)| (scope.name.clone(), id.clone())).collect();
        let new_names: Vec<&String> = contents.scopes.iter().filter(|name| !scope_ids.contains_key(*name)).collect();
        for name in new_names {
            let id = passphrase.random_id()?.to_vec();
            scopes.insert(id.clone(), Scope { name: name.clone(), key: keys.new_key(&wrap_label(&id))? });
            scope_ids.insert(name.clone(), id);
        }
        let vault = VaultPart {
            salt: &salt,
            signing_key: &keys.signing_key(),
            agreement_key: &keys.agreement_key(),
            known_keys: &known_keys,
            scopes: &scopes,
        };
        let mut file = NewFile::create(Some(out))?;
        file.add_bytes(&vault.head_of_export(contents.memories))?;
        Ok(Self { file, keys, scope_ids, scopes, wrapped_keys: BTreeMap::new() })
    }

    fn add(&mut self, payload: &Value, id: Id, scope: &str) -> Result<(), FormatError> {
        let scope = self.scope_ids.get(scope).and_then(|id| Some((id, self.scopes.get(id)?)));
        let (scope_id, scope) = scope.ok_or_else(|| FormatError::invalid("records_changed", ID, "a scope is new"))?;
        let (sealed, wrapped_key) = seal(payload, &id, (scope_id, &scope.key), self.keys.as_ref())?;
        self.wrapped_keys.insert(id, wrapped_key);
        self.file.add_bytes(&cbor::to_bytes(&Value::Bytes(sealed)))
    }

    fn finish(mut self) -> Result<(), FormatError> {
        self.file.add_bytes(&tail_of_export(&self.wrapped_keys))?;
        self.file.finish()
    }
}
