//! What a person who moves an agent should know of its abilities (spec §3.2.6, §3.4.2): which depend on the host, and
//! where an ability and its credential do not find each other. Nothing is changed.
use mementory_json::Tree;
use mementory_model::Issue;
use std::collections::BTreeSet;

/// Abilities reported one by one.
const LISTED: usize = 200;

/// What the identity and the credentials say of each other.
#[derive(Default)]
pub(super) struct Linkage {
    /// Name, what the host must have, ids of credentials.
    capabilities: Vec<(String, Option<String>, Vec<String>)>,
    credentials: BTreeSet<String>,
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

impl Linkage {
    /// Abilities of the agent and of its sub-agents. One without a word about it goes anywhere.
    pub(super) fn identity(&mut self, doc: &Tree) {
        let Some(structured) = doc.get("structured") else { return };
        self.list(structured, "");
        if let Some(Tree::Array(agents)) = structured.get("sub_agents") {
            for agent in agents {
                self.list(agent, text(agent, "name").unwrap_or_default());
            }
        }
    }

    fn list(&mut self, holder: &Tree, agent: &str) {
        let Some(Tree::Array(items)) = holder.get("capabilities") else { return };
        for item in items {
            let name = text(item, "name").unwrap_or_default();
            let name = if agent.is_empty() { name.to_owned() } else { format!("{name} ({agent})") };
            let host = text(item, "portability") == Some("host_dependent");
            let needs = host.then(|| text(item, "host_requirements").unwrap_or("not said what").to_owned());
            self.capabilities.push((name, needs, texts(item, "credential_ids")));
        }
    }

    /// A credential.
    pub(super) fn credential(&mut self, doc: &Tree) {
        let id = text(doc, "id").unwrap_or_default().to_owned();
        self.granted.push((id.clone(), texts(doc, "capabilities_granted")));
        self.credentials.insert(id);
    }

    /// What there is to say.
    pub(super) fn issues(&self, place: &str) -> Vec<Issue> {
        let mut out = Vec::new();
        for (name, needs, ids) in &self.capabilities {
            if let Some(needs) = needs {
                let message = format!("the ability {name} depends on the host: {needs}");
                out.push(Issue::new("capability_host_dependent", place, message));
            }
            for id in ids.iter().filter(|id| !self.credentials.contains(*id)) {
                let message = format!("the ability {name} names the credential {id}, which is not in the file");
                out.push(Issue::new("capability_credential_missing", place, message));
            }
        }
        let known = |name: &String| self.capabilities.iter().any(|(n, ..)| n == name);
        if !self.capabilities.is_empty() {
            for (id, names) in &self.granted {
                for name in names.iter().filter(|name| !known(name)) {
                    let message = format!("the credential {id} grants {name}, which the agent does not list");
                    out.push(Issue::new("credential_capability_unknown", place, message));
                }
            }
        }
        out.truncate(LISTED);
        out
    }
}
