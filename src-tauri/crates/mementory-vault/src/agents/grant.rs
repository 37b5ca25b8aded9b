//! One grant: what one client may do, and how its token is made and checked.
use crate::{VaultResult, agents::GrantScope};
use mementory_crypto::{digests_equal, keyed_digest, random_bytes};
use mementory_model::Timestamp;
use serde::{Deserialize, Serialize};

/// First part of every token.
const TOKEN_PREFIX: &str = "mementory";

/// The actions that a grant permits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GrantRights {
    /// True if the client may search, list and fetch records.
    pub read: bool,
    /// True if the client may put suggestions into the queue.
    pub suggest: bool,
    /// True if the client may export records as documents.
    pub export: bool,
}

impl GrantRights {
    /// Returns the rights as a token contains them: one or more of the letters `r`, `s` and `e`.
    fn token_letters(self) -> String {
        let all = [(self.read, 'r'), (self.suggest, 's'), (self.export, 'e')];
        all.into_iter().filter_map(|(has, letter)| has.then_some(letter)).collect()
    }
}

/// One grant: what one client may do. It contains a salted digest of the token's secret instead of the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Id of the grant.
    pub id: String,
    /// The client's name, given by the person.
    pub name: String,
    salt: String,
    digest: String,
    /// Condition for the records that the client may see.
    pub scope: GrantScope,
    /// Actions that the client may perform.
    pub rights: GrantRights,
    /// Largest number of records that one call returns.
    pub records_per_call: u32,
    /// Largest number of records that may leave the vault on one day (UTC).
    pub records_per_day: u32,
    /// When the grant was made, in microseconds since 1970.
    pub created: i64,
    /// When the grant expires, in microseconds since 1970. None means that it never expires.
    pub expires: Option<i64>,
    /// When the person revoked the grant, in microseconds since 1970.
    pub revoked: Option<i64>,
    /// Time of the last call, in microseconds since 1970.
    pub last_call: Option<i64>,
    /// Time of the first call that returned a record, in microseconds since 1970.
    #[serde(default)]
    pub first_read: Option<i64>,
    /// Whether the person has seen the notice of the first read.
    #[serde(default)]
    pub first_read_seen: bool,
    /// Day on which `calls_today` and `records_today` were counted, in days since 1970.
    pub(crate) day: i64,
    /// Number of calls on `day`.
    pub(crate) calls_today: u32,
    /// Number of records that left the vault on `day`.
    pub(crate) records_today: u32,
}

/// Values of a grant to be created.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "as in `Grant`")]
pub struct NewGrant {
    pub name: String,
    pub scope: GrantScope,
    pub rights: GrantRights,
    pub records_per_call: u32,
    pub records_per_day: u32,
    pub expires: Option<i64>,
}

impl Grant {
    /// Creates a grant and its token. The token is not stored.
    pub(crate) fn create(new: NewGrant, now: Timestamp) -> VaultResult<(Self, String)> {
        let (salt, secret, id) = (random_bytes::<32>()?, random_bytes::<32>()?, random_bytes::<8>()?);
        let id = hex::encode(id);
        let token = format!("{TOKEN_PREFIX}_{}_{id}_{}", new.rights.token_letters(), hex::encode(secret));
        let grant = Self {
            id,
            name: new.name,
            salt: hex::encode(salt),
            digest: hex::encode(keyed_digest(&salt, &[&secret])),
            scope: new.scope,
            rights: new.rights,
            records_per_call: new.records_per_call,
            records_per_day: new.records_per_day,
            created: now.as_micros(),
            expires: new.expires,
            revoked: None,
            last_call: None,
            first_read: None,
            first_read_seen: false,
            day: 0,
            calls_today: 0,
            records_today: 0,
        };
        Ok((grant, token))
    }

    /// True if the grant was created with this token.
    pub(crate) fn accepts(&self, token: &Token) -> bool {
        let bytes = |text: &str| <[u8; 32]>::try_from(hex::decode(text).unwrap_or_default()).ok();
        match (bytes(&self.salt), bytes(&self.digest)) {
            (Some(salt), Some(digest)) => digests_equal(&keyed_digest(&salt, &[&token.secret]), &digest),
            _ => false,
        }
    }
}

/// The parts of a token that the vault checks. A token also lists rights, so that the client's program can list its
/// tools while the vault is locked. The vault ignores these listed rights: only the rights stored in the grant count.
pub(crate) struct Token {
    pub(crate) grant: String,
    secret: [u8; 32],
}

impl Token {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('_');
        let (prefix, _rights, grant, secret) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        if prefix != TOKEN_PREFIX || parts.next().is_some() || grant.len() != 16 {
            return None;
        }
        let secret = hex::decode(secret).ok()?.try_into().ok()?;
        Some(Self { grant: grant.to_owned(), secret })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn make_grant() -> (Grant, String) {
        let rights = GrantRights { read: true, suggest: true, export: true };
        Grant::create(NewGrant { name: "Claude".into(), rights, ..NewGrant::default() }, Timestamp::now()).unwrap()
    }

    #[test]
    fn only_the_token_of_the_grant_is_accepted() {
        let ((grant, token), (_, other)) = (make_grant(), make_grant());
        assert!(grant.accepts(&Token::parse(&token).unwrap()));
        assert!(!grant.accepts(&Token::parse(&other).unwrap()));
        let changed = format!("{}{}", &token[..token.len() - 1], if token.ends_with('0') { '1' } else { '0' });
        assert!(!grant.accepts(&Token::parse(&changed).unwrap()));
    }

    #[test]
    fn the_grant_does_not_contain_the_secret() {
        let (grant, token) = make_grant();
        let secret = token.rsplit('_').next().unwrap();
        assert!(!serde_json::to_string(&grant).unwrap().contains(secret));
    }

    #[test]
    fn text_that_is_no_token_is_not_parsed() {
        let (_, token) = make_grant();
        for text in ["", "mementory", "mementory_r_1_2", &token[..token.len() - 2], &format!("{token}_x"), "ä_ö_ü_ß"]
        {
            assert!(Token::parse(text).is_none(), "{text}");
        }
        assert!(Token::parse(&format!(" {token}\n")).is_some());
    }
}
