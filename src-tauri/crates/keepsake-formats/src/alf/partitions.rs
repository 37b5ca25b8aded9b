//! Quarterly partitions and the ids of records we make (spec §3.1.1, §4.1.1).
use keepsake_model::Timestamp;
use sha2::{Digest, Sha256};

/// A calendar quarter in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Quarter {
    year: i16,
    quarter: i8,
}

impl Quarter {
    /// The quarter that holds a time.
    pub(super) fn of(time: Timestamp) -> Self {
        let (year, month, _) = time.date();
        Self { year, quarter: (month - 1) / 3 + 1 }
    }

    /// `2025-Q3`
    pub(super) fn name(self) -> String {
        format!("{:04}-Q{}", self.year, self.quarter)
    }

    /// First day, inclusive.
    pub(super) fn from(self) -> String {
        format!("{:04}-{:02}-01", self.year, self.quarter * 3 - 2)
    }

    /// Last day, inclusive.
    pub(super) fn to(self) -> String {
        let day = if matches!(self.quarter, 1 | 4) { 31 } else { 30 };
        format!("{:04}-{:02}-{day}", self.year, self.quarter * 3)
    }
}

/// A UUID of version 7 that is the same at each export: the record's time, and bits of a hash of its vault id where
/// version 7 has random ones.
pub(super) fn stable_v7(created: Timestamp, vault_id: &str) -> uuid::Uuid {
    let digest = Sha256::digest(format!("keepsake alf memory record\n{vault_id}"));
    let mut bits = [0u8; 10];
    bits.copy_from_slice(&digest[..10]);
    let millis = u64::try_from(created.as_micros().div_euclid(1000)).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &bits).into_uuid()
}

/// A UUID for anything else of ours (agent, principal, attachment): version 5 over a name.
pub(super) fn stable_v5(name: &str) -> uuid::Uuid {
    uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, format!("keepsake:alf:{name}").as_bytes())
}
