//! The table of findings: fingerprints of sensitive values, their classes and decisions.
use crate::VaultResult;
use mementory_crypto::{VaultKeys, keyed_id};
use mementory_scan::Class;
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;

/// Fingerprint of a sensitive value, see [`value_id`].
pub(crate) type ValueId = [u8; 16];

/// Returns the fingerprint of a value. All spellings of a value have the same fingerprint, because spaces in a card
/// number and case in an e-mail address are ignored.
pub(crate) fn value_id(keys: &VaultKeys, class: Class, value: &str) -> ValueId {
    let canonical = match class {
        Class::Card | Class::Iban | Class::Phone | Class::NationalId => {
            value.chars().filter(|c| c.is_alphanumeric() || *c == '+').flat_map(char::to_uppercase).collect()
        }
        Class::Email => value.to_lowercase(),
        Class::AccessKey | Class::PrivateKey | Class::Password | Class::StoredSecret => value.to_owned(),
    };
    keyed_id(keys.fingerprints(), &[b"value", canonical.as_bytes()])
}

/// Returns the number of a class in the store. Lists of classes are ordered by this number.
pub(crate) fn class_code(class: Class) -> i64 {
    class as i64
}

pub(crate) fn class_from_code(code: i64) -> Class {
    Class::ALL.into_iter().find(|class| class_code(*class) == code).unwrap_or(Class::Password)
}

/// Runs a query whose rows are a class and a number, and returns the numbers by class.
pub(crate) fn count_by_class(
    c: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> VaultResult<BTreeMap<Class, u32>> {
    let mut statement = c.prepare_cached(sql)?;
    let rows = statement.query_map(values, |r| Ok((class_from_code(r.get(0)?), r.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the values that the person ignores.
pub(crate) fn ignored_values(c: &Connection) -> VaultResult<std::collections::HashSet<ValueId>> {
    let mut statement = c.prepare_cached("SELECT value FROM judged WHERE verdict = 1")?;
    let rows = statement.query_map([], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// True if the table has a finding of this value.
pub(crate) fn is_present(c: &Connection, id: ValueId) -> VaultResult<bool> {
    let row: Option<i64> = c
        .prepare_cached("SELECT 1 FROM findings WHERE value = ?1 LIMIT 1")?
        .query_row([id], |r| r.get(0))
        .optional()?;
    Ok(row.is_some())
}
