//! Reads the entries of an archive that are not records: the files in `raw/`, artifacts, unknown entries and layers,
//! and the manifest.
use super::manifest::MANIFEST_FILE;
use super::read::Reader;
use super::workspace_origin::runtime_of;
use super::workspaces::{ManifestWorkspaces, RawEntry};
use mementory_format::sha256;
use mementory_format::{FormatError, Member, PassthroughItem};
use mementory_formats_agents::openclaw::{
    files::{self, FileRole},
    redact,
};
use mementory_model::{Issue, Record};

impl Reader<'_> {
    /// Sends all entries that were not read to the sink as passthrough files.
    pub(super) fn read_passthrough(&mut self) -> Result<(), FormatError> {
        let layers: Vec<String> = self.manifest.unknown_layer_files().into_iter().map(str::to_owned).collect();
        let index = self.manifest.index_file();
        let archive = self.archive;
        let workspaces = ManifestWorkspaces::from_manifest(self.manifest);
        for (name, member) in &archive.entries {
            let role = match *name {
                name if name == MANIFEST_FILE && self.is_delta => continue,
                name if name == MANIFEST_FILE => "manifest",
                name if self.used.contains(name) => continue,
                name if Some(name) == index || layers.iter().any(|l| l == name) => "layer",
                name if name.starts_with("raw/") => "raw",
                name if name.starts_with("artifacts/") => "artifact",
                _ => "entry",
            };
            let is_generated = self.manifest.is_generated() && (*name == MANIFEST_FILE || Some(*name) == index);
            if is_generated {
                continue;
            }
            if self.is_delta && *name == super::manifest::DELTA_MANIFEST_FILE {
                continue;
            }
            if name.ends_with(".jsonl") && name.starts_with("memory/") {
                let message = "no partition of the manifest lists this file; it is stored, but not read as memories";
                self.sink.note(Issue::new("unlisted_partition", &member.place, message));
            }
            let outcome = self.read_entry(&workspaces, member, name, role);
            self.unless_damaged(member, outcome)?;
            self.advance(member.size)?;
        }
        // Restores key files, which have no entry in the archive: their content is only in the sealed credential.
        for (name, bytes) in std::mem::take(&mut self.opener.files) {
            let path = name.splitn(3, '/').nth(2).unwrap_or_default();
            if matches!(files::role(path), FileRole::Secret) && !archive.entries.contains_key(name.as_str()) {
                let item = self.raw_item(&workspaces, &name, &archive.place);
                self.sink.passthrough(item, &mut bytes.as_slice())?;
            } else {
                let message = "its settings file is missing, so its secrets are not restored";
                self.sink.note(Issue::new("secrets_not_restored", format!("{}!/{name}", archive.place), message));
            }
        }
        Ok(())
    }

    fn read_entry(
        &mut self,
        workspaces: &ManifestWorkspaces,
        member: &Member,
        name: &str,
        role: &str,
    ) -> Result<(), FormatError> {
        if role == "raw" && self.read_raw(workspaces, member, name)? {
            return Ok(());
        }
        self.pass_through(member, name, role)
    }

    /// Reads a raw entry of a workspace: a file whose text is also in records, a settings file whose secrets were
    /// decrypted, or a passthrough file. Returns false if the caller must store the entry as a passthrough file of the
    /// agent.
    fn read_raw(&mut self, workspaces: &ManifestWorkspaces, member: &Member, name: &str) -> Result<bool, FormatError> {
        let archive = self.archive;
        let entry = workspaces.entry(name);
        if let Some(RawEntry::FromRecords(runtime, path, digest)) = entry {
            let actual_digest = archive.catalog.read(member, |bytes| sha256(bytes, &member.place))?;
            if actual_digest != digest {
                let message = "another program changed this file; the memories in the archive have its previous text";
                self.sink.note(Issue::new("raw_changed", &member.place, message));
            }
            // The entry is skipped only if a record contains the file's text. The manifest alone is no proof of this.
            return Ok(actual_digest == digest && self.files_from_records.contains(&(runtime, path.to_owned())));
        }
        if let Some(original) = self.opener.files.remove(name) {
            let text = archive.catalog.bytes(member, self.limits.element_bytes)?;
            if redact::differs_only_by_secrets(&original, &text) {
                let item = self.raw_item(workspaces, name, &member.place);
                self.sink.passthrough(item, &mut original.as_slice())?;
                return Ok(true);
            }
            let message = "the settings were changed after the export, so their secrets are not restored";
            self.sink.note(Issue::new("secrets_not_restored", &member.place, message));
        }
        if !matches!(entry, Some(RawEntry::Passthrough(..))) {
            return Ok(false);
        }
        let item = self.raw_item(workspaces, name, &member.place);
        archive.catalog.read(member, |bytes| self.sink.passthrough(item, bytes))?;
        Ok(true)
    }

    /// Passthrough item for a raw entry. The item belongs to a workspace if the manifest lists the entry, otherwise to
    /// the agent.
    fn raw_item(&self, workspaces: &ManifestWorkspaces, name: &str, place: &str) -> PassthroughItem {
        let (format, group, name) = match workspaces.entry(name) {
            Some(RawEntry::Passthrough(runtime, scope, path)) => (runtime, scope, path),
            _ => ("alf", self.manifest.agent.as_str(), name),
        };
        let [format, group, name, role] = [format, group, name, "raw"].map(str::to_owned);
        PassthroughItem { format, group, name, role, place: place.to_owned() }
    }

    /// Adds the workspace file that this record was read from to `files_from_records`.
    pub(super) fn note_workspace_file(&mut self, record: &Record) {
        if let (Some(runtime), Some(path)) =
            (runtime_of(record), record.fields.get("file").and_then(|file| file.as_str()))
        {
            self.files_from_records.insert((runtime.id, path.to_owned()));
        }
    }
}
