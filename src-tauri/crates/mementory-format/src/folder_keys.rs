//! Record keys that contain the name of the folder from which the records were read. The name distinguishes folders
//! that contain the same paths, but it changes when a folder is renamed, copied or unpacked again.
use mementory_model::RecordKey;

/// Where the record keys of a source contain the name of its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderKeys {
    /// The scope of the keys or, if it ends in the folder's name, the part before the name.
    scope: String,
    name: String,
    is_in_value: bool,
}

impl FolderKeys {
    /// Keys whose scope is `prefix` followed by the name. None for an empty name.
    pub fn in_scope(prefix: impl Into<String>, name: impl Into<String>) -> Option<Self> {
        Self { scope: prefix.into(), name: name.into(), is_in_value: false }.if_name_not_empty()
    }

    /// Keys of `scope` whose value has the name as its second part: `first/name/more`. None for an empty name.
    pub fn in_value(scope: impl Into<String>, name: impl Into<String>) -> Option<Self> {
        Self { scope: scope.into(), name: name.into(), is_in_value: true }.if_name_not_empty()
    }

    fn if_name_not_empty(self) -> Option<Self> {
        (!self.name.is_empty()).then_some(self)
    }

    /// The name of the folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if equal keys mean equal texts: a format that puts the folder's name into the value also puts a digest of
    /// the text there.
    pub fn has_content_in_value(&self) -> bool {
        self.is_in_value
    }

    /// The name of the folder in a key. None if the key does not contain a folder name.
    pub fn name_in<'k>(&self, key: &'k RecordKey) -> Option<&'k str> {
        let name = match self.is_in_value {
            true => key.value.split('/').nth(1).filter(|_| key.scope == self.scope),
            false => key.scope.strip_prefix(self.scope.as_str()),
        };
        name.filter(|name| !name.is_empty())
    }

    /// The key with the folder's name replaced by `name`. A key without a folder name is returned unchanged.
    pub fn renamed(&self, key: &RecordKey, name: &str) -> RecordKey {
        if self.name_in(key).is_none() {
            return key.clone();
        }
        if !self.is_in_value {
            return RecordKey::new(format!("{}{name}", self.scope), key.value.clone());
        }
        let parts: Vec<&str> = key.value.splitn(3, '/').collect();
        match parts.as_slice() {
            [first, _, more] => RecordKey::new(key.scope.clone(), format!("{first}/{name}/{more}")),
            _ => key.clone(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_and_replaced_in_scope_and_value() {
        let keys = FolderKeys::in_scope("notes:", "Old").unwrap();
        let key = RecordKey::new("notes:Old", "a/b.md");
        assert_eq!(keys.name_in(&key), Some("Old"));
        assert_eq!(keys.renamed(&key, "New"), RecordKey::new("notes:New", "a/b.md"));
        assert_eq!(keys.name_in(&RecordKey::new("notes", "a")), None);

        let keys = FolderKeys::in_value("rules", "Old").unwrap();
        let key = RecordKey::new("rules", "cursor/Old/12/3");
        assert_eq!(keys.name_in(&key), Some("Old"));
        assert_eq!(keys.renamed(&key, "New"), RecordKey::new("rules", "cursor/New/12/3"));
        assert_eq!(keys.name_in(&RecordKey::new("rules", "cursor//12")), None);
        assert_eq!(keys.renamed(&RecordKey::new("other", "x/Old/1"), "New"), RecordKey::new("other", "x/Old/1"));
        assert_eq!(FolderKeys::in_scope("notes:", ""), None);
    }
}
