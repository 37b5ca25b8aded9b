//! Remembers the id of the last owner, because all messages of a conversation have the same owner.
use mementory_crypto::VaultKeys;
use mementory_model::RecordKey;
use mementory_store::ids::record_id;

/// The owner of the last record with an owner.
#[derive(Default)]
pub(super) struct LastOwner(Option<(RecordKey, [u8; 16])>);

impl LastOwner {
    /// The id of the record with the key of an owner. Derives it only if the last owner had another key.
    pub(super) fn id_of(&mut self, keys: &VaultKeys, key: &RecordKey) -> [u8; 16] {
        match &self.0 {
            Some((last, id)) if last == key => *id,
            _ => {
                let id = record_id(keys, key);
                self.0 = Some((key.clone(), id));
                id
            }
        }
    }
}
