//! What is no record of an archive: `raw/`, artifacts, unknown entries and layers, the manifest.
use super::manifest::MANIFEST;
use super::read::Reader;
use super::workspaces::{self, Known, RawEntry};
use mementory_format::sha256;
use mementory_format::{FormatError, Member, PassthroughItem};
use mementory_formats_vendor::openclaw::{
    files::{self, FileRole},
    redact,
};
use mementory_model::{Issue, Record};

impl Reader<'_> {
    /// Everything that was not read hands itself on as it is.
    pub(super) fn passthrough(&mut self) -> Result<(), FormatError> {
        let layers: Vec<String> = self.manifest.unknown_layer_files().into_iter().map(str::to_owned).collect();
        let index = self.manifest.index_file();
        let archive = self.archive;
        let known = Known::of(self.manifest);
        for (name, member) in &archive.entries {
            let role = match *name {
                name if name == MANIFEST && self.delta => continue,
                name if name == MANIFEST => "manifest",
                name if self.used.contains(name) => continue,
                name if Some(name) == index || layers.iter().any(|l| l == name) => "layer",
                name if name.starts_with("raw/") => "raw",
                name if name.starts_with("artifacts/") => "artifact",
                _ => "entry",
            };
            let ours = self.manifest.generated() && (*name == MANIFEST || Some(*name) == index);
            if ours {
                continue;
            }
            if self.delta && *name == super::detect::DELTA_MANIFEST {
                continue;
            }
            if name.ends_with(".jsonl") && name.starts_with("memory/") {
                let message = "no partition of the manifest lists this file; kept, not read";
                self.sink.note(Issue::new("unlisted_partition", &member.place, message));
            }
            if role != "raw" || !self.raw(&known, member, name)? {
                self.pass(member, name, role)?;
            }
            self.advance(member.size)?;
        }
        // key files, which are in no archive but sealed
        for (name, bytes) in std::mem::take(&mut self.opener.files) {
            let path = name.splitn(3, '/').nth(2).unwrap_or_default();
            if matches!(files::role(path), FileRole::Secret) && !archive.entries.contains_key(name.as_str()) {
                let item = self.raw_item(&known, &name, &archive.place);
                self.sink.passthrough(item, &mut bytes.as_slice())?;
            } else {
                let message = "its settings file is not there any more; the secrets that belong to it are not put back";
                self.sink.note(Issue::new("secrets_not_restored", format!("{}!/{name}", archive.place), message));
            }
        }
        Ok(())
    }

    /// A raw entry that is not simply kept: text that records hold, a part of a workspace, settings whose secrets were
    /// opened. False: it is none of these.
    fn raw(&mut self, known: &Known, member: &Member, name: &str) -> Result<bool, FormatError> {
        let archive = self.archive;
        let found = known.entry(name);
        if let Some(RawEntry::Made(runtime, path, digest)) = found {
            let now = archive.catalog.read(member, |bytes| sha256(bytes, &member.place))?;
            if now != digest {
                let message = "this file was changed; the memories of the archive say what it said before";
                self.sink.note(Issue::new("raw_changed", &member.place, message));
            }
            // A file that no record of the archive says is kept, whatever the manifest claims.
            return Ok(now == digest && self.made.contains(&(runtime, path.to_owned())));
        }
        if let Some(whole) = self.opener.files.remove(name) {
            let text = archive.catalog.bytes(member, self.limits.element_bytes)?;
            if redact::lacks_only_secrets(&whole, &text) {
                let item = self.raw_item(known, name, &member.place);
                self.sink.passthrough(item, &mut whole.as_slice())?;
                return Ok(true);
            }
            let message = "the settings were changed since; the secrets that belong to them are not put back";
            self.sink.note(Issue::new("secrets_not_restored", &member.place, message));
        }
        if !matches!(found, Some(RawEntry::Part(..))) {
            return Ok(false);
        }
        let item = self.raw_item(known, name, &member.place);
        archive.catalog.read(member, |bytes| self.sink.passthrough(item, bytes))?;
        Ok(true)
    }

    /// A raw entry as the part that it is: of its workspace if the manifest knows it, else of the agent.
    fn raw_item(&self, known: &Known, name: &str, place: &str) -> PassthroughItem {
        let (format, group, name) = match known.entry(name) {
            Some(RawEntry::Part(runtime, scope, path)) => (runtime, scope, path),
            _ => ("alf", self.manifest.agent.as_str(), name),
        };
        let [format, group, name, role] = [format, group, name, "raw"].map(str::to_owned);
        PassthroughItem { format, group, name, role, place: place.to_owned() }
    }

    /// Remembers that a record of a workspace was in the archive.
    pub(super) fn remember(&mut self, record: &Record) {
        if let (Some(runtime), Some(path)) =
            (workspaces::runtime_of(record), record.fields.get("file").and_then(|file| file.as_str()))
        {
            self.made.insert((runtime.id, path.to_owned()));
        }
    }
}
