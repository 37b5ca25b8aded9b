//! Detects prompts of AI Studio by their JSON members, because the name of a file is only the title of the prompt,
//! often without an extension.
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role};
use mementory_json::Keys;
use std::collections::{BTreeMap, HashSet};

/// Returns one claim for each archive or selected folder. A folder from Drive contains one file for each prompt.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut groups: BTreeMap<(usize, Option<usize>), Vec<&Member>> = BTreeMap::new();
    for member in catalog.members().iter().filter(|member| is_prompt(catalog, member)) {
        groups.entry((member.root, member.archive)).or_default().push(member);
    }
    let claim = |members: Vec<&Member>| {
        let mut parts: Vec<Part> =
            members.iter().map(|member| Part { member: member.id, role: Role::Conversations }).collect();
        parts.extend(access_histories(catalog, &members));
        Claim {
            version: None,
            confidence: 0.95,
            reason: match members.len() {
                1 => "a prompt of Google AI Studio".into(),
                n => format!("{n} prompts of Google AI Studio"),
            },
            parts,
            missing_parts: vec![],
        }
    };
    groups.into_values().map(claim).collect()
}

/// Returns the access history of AI Studio, if it is in the same folder as a prompt.
fn access_histories<'c>(catalog: &'c Catalog, prompts: &[&Member]) -> impl Iterator<Item = Part> + use<'c> {
    let folders: HashSet<(usize, Option<usize>, String)> =
        prompts.iter().map(|member| (member.root, member.archive, dir_of(&member.name).to_owned())).collect();
    catalog.members().iter().filter_map(move |member| {
        let is_known = member.file_name() == "applet_access_history.json";
        let is_in_chat_folder = || folders.contains(&(member.root, member.archive, dir_of(&member.name).to_owned()));
        (is_known && is_in_chat_folder()).then_some(Part { member: member.id, role: Role::Sidecar })
    })
}

fn dir_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

fn is_prompt(catalog: &Catalog, member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    // The title of a prompt may contain a dot, so only the extensions of known other file types are excluded.
    let other = ["zip", "png", "jpg", "jpeg", "gif", "webp", "pdf", "mp3", "mp4", "wav", "html", "htm", "csv", "db"];
    if name.starts_with("._") || name.rsplit_once('.').is_some_and(|(_, ending)| other.contains(&ending)) {
        return false;
    }
    let Some(JsonHead { first, keys, .. }) = JsonHead::of(catalog, member) else { return false };
    matches!(first, b'{' | b'[') && has_prompt_keys(&keys, first == b'[')
}

fn has_prompt_keys(keys: &Keys, is_list: bool) -> bool {
    let has_chunks = keys.has("chunkedPrompt.chunks") || keys.has("chunkedPrompt");
    // A long list of settings or tools may come before the chunks, so that the head does not contain them. The settings
    // alone are enough to detect a prompt.
    let has_settings = keys.has("runSettings.model") && (keys.has("systemInstruction") || keys.has("runSettings.topP"));
    let is_list_of_chunks = is_list && keys.has("role") && keys.has("text") && keys.has("isThought");
    let is_bare = keys.has("chunks.role")
        && (keys.has("chunks.text") || keys.has("chunks.parts"))
        && ["runSettings", "chunks.isThought", "chunks.tokenCount"].iter().any(|key| keys.has(key));
    has_chunks || has_settings || is_list_of_chunks || is_bare
}
