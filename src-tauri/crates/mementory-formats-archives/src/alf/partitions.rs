//! Quarterly and monthly partitions, and stable ids for generated lines (spec §3.1.1, §4.1.1).
use mementory_model::Timestamp;
use sha2::{Digest, Sha256};

/// Period of a partition in UTC: a calendar quarter, or a month if the agent has many records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Period {
    year: i16,
    /// First month, 1 to 12.
    month: i8,
    /// Number of months: 3 or 1.
    months: i8,
}

impl Period {
    /// The quarter that contains a time.
    pub(super) fn quarter(time: Timestamp) -> Self {
        Self::month(time).to_quarter()
    }

    /// The month that contains a time.
    pub(super) fn month(time: Timestamp) -> Self {
        let (year, month, _) = time.date();
        Self { year, month, months: 1 }
    }

    /// The quarter that contains a month.
    pub(super) fn to_quarter(self) -> Self {
        Self { month: (self.month - 1) / 3 * 3 + 1, months: 3, ..self }
    }

    /// Name of the period: `2025-Q3` or `2025-07`.
    pub(super) fn name(self) -> String {
        match self.months {
            3 => format!("{:04}-Q{}", self.year, (self.month - 1) / 3 + 1),
            _ => format!("{:04}-{:02}", self.year, self.month),
        }
    }

    /// First day, inclusive.
    pub(super) fn first_day(self) -> String {
        format!("{:04}-{:02}-01", self.year, self.month)
    }

    /// Last day, inclusive.
    pub(super) fn last_day(self) -> String {
        let last_month = self.month + self.months - 1;
        let is_leap_year = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        let day = match last_month {
            2 if is_leap_year => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        format!("{:04}-{last_month:02}-{day}", self.year)
    }

    /// `Less` if the period is over at this time, `Equal` if it contains the time, `Greater` if it starts later.
    pub(super) fn relative_to(self, now: Timestamp) -> std::cmp::Ordering {
        let (year, month, _) = now.date();
        match (self.year, self.month + self.months - 1) < (year, month) {
            true => std::cmp::Ordering::Less,
            false if (self.year, self.month) > (year, month) => std::cmp::Ordering::Greater,
            false => std::cmp::Ordering::Equal,
        }
    }
}

/// A UUID version 7 that is the same in each export: instead of random bits, it contains part of a digest of the
/// record's vault id.
pub(super) fn stable_v7(created: Timestamp, vault_id: &str) -> uuid::Uuid {
    let digest = Sha256::digest(format!("keepsake alf memory record\n{vault_id}"));
    let mut bits = [0u8; 10];
    bits.copy_from_slice(&digest[..10]);
    let millis = u64::try_from(created.as_micros().div_euclid(1000)).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &bits).into_uuid()
}

/// A UUID version 5 derived from a name, for other generated ids (agent, principal, attachment).
pub(super) fn stable_v5(name: &str) -> uuid::Uuid {
    uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, format!("keepsake:alf:{name}").as_bytes())
}
