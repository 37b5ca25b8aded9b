//! Reads the calls of connected clients from the audit log.
use super::Agents;
use crate::{ApiResult, types::*};
use mementory_model::{Kind, Timestamp};
use std::collections::{BTreeMap, HashMap};

/// Prefix of the name of a client's tool in the audit log.
const CALL_PREFIX: &str = "client_";

impl Agents<'_> {
    /// Returns the newest calls of all clients, or of one grant, at most `limit` calls.
    pub fn calls(&self, grant: Option<&str>, limit: u32) -> ApiResult<ClientCallList> {
        let names: HashMap<String, String> =
            self.context.vault.grants().all()?.into_iter().map(|grant| (grant.id, grant.name)).collect();
        let (mut calls, mut total) = (Vec::new(), 0_u32);
        for entry in self.context.vault.audit().entries()?.into_iter().rev() {
            let Some(tool) = entry.op.strip_prefix(CALL_PREFIX) else { continue };
            if grant.is_some_and(|grant| grant != entry.target) {
                continue;
            }
            total += 1;
            if calls.len() >= limit as usize {
                continue;
            }
            let (left, note) = parse_detail(&entry.detail);
            calls.push(ClientCall {
                at: Timestamp::from_micros(entry.at).map(Timestamp::to_rfc3339).unwrap_or_default(),
                client: names.get(&entry.target).cloned().unwrap_or_default(),
                grant: entry.target,
                tool: tool.to_owned(),
                left,
                note,
            });
        }
        Ok(ClientCallList { calls, total })
    }
}

/// Parses the detail that `Call` of the vault wrote, such as `memory 3, fact 1, new`.
fn parse_detail(detail: &str) -> (BTreeMap<String, u32>, Option<String>) {
    let (mut returned, mut notes) = (BTreeMap::new(), Vec::new());
    for part in detail.split(", ").filter(|part| !part.is_empty() && *part != "nothing left") {
        match part.rsplit_once(' ').and_then(|(kind, count)| Some((Kind::parse(kind)?, count.parse().ok()?))) {
            Some((kind, count)) => drop(returned.insert(kind.as_str().to_owned(), count)),
            None => notes.push(part),
        }
    }
    (returned, (!notes.is_empty()).then(|| notes.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_detail_of_a_call_is_read_back() {
        let counts = |pairs: &[(&str, u32)]| pairs.iter().map(|(kind, n)| ((*kind).to_owned(), *n)).collect();
        assert_eq!(parse_detail("memory 3, fact 1"), (counts(&[("memory", 3), ("fact", 1)]), None));
        assert_eq!(parse_detail("memory 1, change"), (counts(&[("memory", 1)]), Some("change".into())));
        assert_eq!(parse_detail("nothing left"), (BTreeMap::new(), None));
        assert_eq!(parse_detail("nothing 4"), (BTreeMap::new(), Some("nothing 4".into())));
        assert_eq!(parse_detail(""), (BTreeMap::new(), None));
    }
}
