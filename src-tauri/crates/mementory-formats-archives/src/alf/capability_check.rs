//! Warns about capabilities of an agent that depend on its host, or that do not match its credentials, so that they may
//! not work on another host (spec §3.2.6, §3.4.2).
use mementory_json::Tree;
use mementory_model::Issue;
use std::collections::BTreeSet;

/// Largest number of issues that are reported for one archive.
const MAX_ISSUES: usize = 200;

/// Compares the capabilities of the agent with the credentials of the archive.
#[derive(Default)]
pub(super) struct CapabilityCheck {
    /// The name of each capability, its host requirement (`portability`), and the ids of the credentials that it needs.
    capabilities: Vec<(String, Option<String>, Vec<String>)>,
    credentials: BTreeSet<String>,
    /// Id of each credential, and the capabilities that it grants.
    granted: Vec<(String, Vec<String>)>,
}

fn text<'t>(tree: &'t Tree, key: &str) -> Option<&'t str> {
    tree.get(key).and_then(Tree::as_str)
}

fn texts(tree: &Tree, key: &str) -> Vec<String> {
    match tree.get(key) {
        Some(Tree::Array(items)) => items.iter().filter_map(Tree::as_str).map(str::to_owned).collect(),
        _ => vec![],
    }
}

impl CapabilityCheck {
    /// Adds the capabilities of the agent and of its sub-agents. A capability without `portability` is assumed to work
    /// on any host.
    pub(super) fn add_identity(&mut self, doc: &Tree) {
        let Some(structured) = doc.get("structured") else { return };
        self.add_capabilities(structured, "");
        if let Some(Tree::Array(agents)) = structured.get("sub_agents") {
            for agent in agents {
                self.add_capabilities(agent, text(agent, "name").unwrap_or_default());
            }
        }
    }

    fn add_capabilities(&mut self, holder: &Tree, agent: &str) {
        let Some(Tree::Array(items)) = holder.get("capabilities") else { return };
        for item in items {
            let name = text(item, "name").unwrap_or_default();
            let name = if agent.is_empty() { name.to_owned() } else { format!("{name} ({agent})") };
            let depends_on_host = text(item, "portability") == Some("host_dependent");
            let host_requirement = depends_on_host
                .then(|| text(item, "host_requirements").unwrap_or("no requirement is named").to_owned());
            self.capabilities.push((name, host_requirement, texts(item, "credential_ids")));
        }
    }

    pub(super) fn add_credential(&mut self, doc: &Tree) {
        let id = text(doc, "id").unwrap_or_default().to_owned();
        self.granted.push((id.clone(), texts(doc, "capabilities_granted")));
        self.credentials.insert(id);
    }

    /// An issue for each capability that depends on the host, and for each mismatch of capabilities and credentials.
    pub(super) fn issues(&self, place: &str) -> Vec<Issue> {
        let mut out = Vec::new();
        for (name, host_requirement, ids) in &self.capabilities {
            if let Some(host_requirement) = host_requirement {
                let message = format!("the ability {name} depends on the host: {host_requirement}");
                out.push(Issue::new("capability_host_dependent", place, message));
            }
            for id in ids.iter().filter(|id| !self.credentials.contains(*id)) {
                let message = format!("the ability {name} names the credential {id}, which is not in the file");
                out.push(Issue::new("capability_credential_missing", place, message));
            }
        }
        let is_known = |name: &String| self.capabilities.iter().any(|(n, ..)| n == name);
        if !self.capabilities.is_empty() {
            for (id, names) in &self.granted {
                for name in names.iter().filter(|name| !is_known(name)) {
                    let message = format!("the credential {id} grants {name}, which the agent does not list");
                    out.push(Issue::new("credential_capability_unknown", place, message));
                }
            }
        }
        out.truncate(MAX_ISSUES);
        out
    }
}
