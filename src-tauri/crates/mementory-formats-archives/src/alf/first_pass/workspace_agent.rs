//! The agent of an exported workspace: its id, and its profiles as identity and principals.
use super::super::document_row::Row;
use super::super::lineage::Lineage;
use super::super::partitions::stable_v5;
use super::super::workspace_origin::by_id;
use super::super::workspace_profile;
use super::{ExportPlan, SoleWorkspace};
use mementory_format::{FormatError, RecordSource, StoredRecord};

/// Id of the workspace's agent: the UUID in the id space or, if there is none, an id derived from the id space.
fn agent_of(scope: &str) -> String {
    let id = scope.split_once(':').map_or(scope, |(_, id)| id);
    match uuid::Uuid::parse_str(id) {
        Ok(id) => id.hyphenated().to_string(),
        Err(_) => stable_v5(&format!("agent:{scope}")).hyphenated().to_string(),
    }
}

/// Converts the profiles of the workspace with the most records to the identity and the principals, unless the plan
/// already has an imported identity. Returns the profiles that must become memory lines instead.
pub(super) fn add_profiles(
    source: &mut dyn RecordSource,
    plan: &mut ExportPlan,
    profiles: Vec<StoredRecord>,
) -> Result<Vec<StoredRecord>, FormatError> {
    let largest_scope = plan.workspaces.iter().max_by_key(|(_, n)| **n).map(|(scope, _)| scope.clone());
    let Some(scope) = largest_scope.filter(|_| plan.identity.is_none() && !plan.rows.contains_key("identity")) else {
        return Ok(profiles);
    };
    let (workspace_profiles, mut as_lines): (Vec<_>, Vec<_>) =
        profiles.into_iter().partition(|p| p.record.key.scope == scope);
    let runtime = scope.split(':').next().and_then(by_id).map_or("", |r| r.id);
    if !plan.has_other_formats && plan.agents.is_empty() && plan.workspaces.len() == 1 {
        plan.agent = agent_of(&scope);
        let name = workspace_profile::agent_name(&workspace_profiles).unwrap_or_else(|| "Agent".into());
        plan.sole_workspace = Some(SoleWorkspace { runtime, name });
    }
    let (mut identity, mut persons) = (Vec::<StoredRecord>::new(), Vec::new());
    for stored in workspace_profiles {
        let block = stored.record.record_type.clone();
        // An identity can have only one block of each type. Other profiles of the same type become memory lines.
        match block.as_deref() {
            Some("user_profile") => persons.push(stored),
            _ if identity.iter().any(|p| p.record.record_type == block) => as_lines.push(stored),
            _ => identity.push(stored),
        }
    }
    let lineage = match identity.is_empty() {
        true => None,
        false => Some(Lineage::count_versions(source, runtime, &scope, &identity)?),
    };
    let mut add_row = |layer: &'static str, text: String, profiles: &[StoredRecord]| {
        plan.in_documents.extend(profiles.iter().map(|p| p.id.clone()));
        let (value, scope, runtime) = (String::new(), String::new(), runtime.to_owned());
        plan.rows.entry(layer).or_default().push(Row { value, scope, runtime, text, file: None });
    };
    if let Some(lineage) = &lineage {
        let text = workspace_profile::identity(&identity, runtime, &plan.agent, lineage.version);
        add_row("identity", text, &identity);
    }
    for person in persons {
        let text = workspace_profile::principal(&person, runtime, &plan.agent);
        add_row("principals", text, std::slice::from_ref(&person));
    }
    plan.lineage = lineage;
    Ok(as_lines)
}
