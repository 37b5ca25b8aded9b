//! Detects files with rules for agents. Agents find these files by name and folder, so most of them have no other
//! identifying mark. Files with other names are detected by frontmatter members that only one agent uses.
use super::entries;
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::frontmatter::Document;
use mementory_formats_shared::text_head::text_head;
use std::collections::HashSet;

/// Number of bytes at the beginning of a file that detection reads.
const HEAD_BYTES: usize = 16 << 10;
/// Confidence for rules files. It is lower than the confidence for the workspace of an agent, whose files can have the
/// same names, and higher than the confidence for pasted text.
const CONFIDENCE: f64 = 0.75;

/// Folders whose contents other people wrote. Rules in these folders are skipped.
const THIRD_PARTY_FOLDERS: [&str; 2] = [".git", "node_modules"];
/// Folders of dependencies and build output. They are skipped only in a folder that has a manifest, because a person
/// may use the same names for other folders.
const PACKAGE_FOLDERS: [&str; 3] = ["dist", "target", "vendor"];
/// Files that describe a package of software.
const MANIFEST_FILES: [&str; 7] =
    ["cargo.toml", "composer.json", "gemfile", "go.mod", "package.json", "pom.xml", "pyproject.toml"];
/// Folders in which an agent looks for the person's rules, with the agent's platform. Each Markdown file there is a
/// rules file.
const RULES_FOLDERS: [([&str; 2], &str); 8] = [
    ([".kiro", "steering"], "kiro"),
    ([".amazonq", "rules"], "amazon-q"),
    ([".continue", "rules"], "continue"),
    ([".trae", "rules"], "trae"),
    ([".augment", "rules"], "augment"),
    ([".qoder", "rules"], "qoder"),
    ([".kilocode", "rules"], "kilo-code"),
    ([".agent", "rules"], "antigravity"),
];
/// Members of the frontmatter of Cursor's rules.
const CURSOR_KEYS: [&str; 3] = ["description", "globs", "alwaysApply"];

/// Name of the platform Hermes Agent, which stores its memories in separate files.
pub(super) const HERMES: &str = "hermes";
/// Names of the files with the memories of Hermes Agent: its general notes, and its notes about the person.
const HERMES_FILES: [&str; 2] = ["memory.md", "user.md"];
/// Largest number of characters in `USER.md` of Hermes Agent, unless the person changed its settings.
const HERMES_USER_CHARS: usize = 1_375;

/// Largest number of files among which a `USER.md` without any other mark is taken for one of Hermes Agent. For each such
/// file, the names of all files are compared.
const MAX_HERMES_FILES: usize = 1_000;

/// Start of the Markdown files that Mementory writes: `AGENTS.md` and the topic files. In such a file, it is unknown
/// whether a person or an agent wrote an item.
pub(super) const FILE_START: &str = "<!-- Written by Mementory";
/// Confidence for files that this format wrote. Their first line identifies them.
const MARKED_FILE_CONFIDENCE: f64 = 0.9;

/// A file that contains rules according to its name and beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RuleFile {
    /// Name of the platform, or `agents` for a file name that many agents share.
    pub platform: &'static str,
    /// Who wrote the text: `rules_file` for a person, `agent_memory` for an agent.
    pub method: &'static str,
    /// True for a file that is stored, but not read.
    pub is_opaque: bool,
    /// True for a file that Mementory wrote.
    pub is_ours: bool,
}

/// A file with memories of Hermes Agent.
const HERMES_MEMORY: RuleFile = RuleFile { method: "agent_memory", ..rules(HERMES) };

const fn rules(platform: &'static str) -> RuleFile {
    RuleFile { platform, method: "rules_file", is_opaque: false, is_ours: false }
}

/// One claim for all rules files in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let detected_files: Vec<(usize, RuleFile)> = rule_files(catalog).map(|(member, file)| (member.id, file)).collect();
    if detected_files.is_empty() {
        return Vec::new();
    }
    let role = |file: &RuleFile| if file.is_opaque { Role::Sidecar } else { Role::Memories };
    vec![Claim {
        version: None,
        confidence: if detected_files.iter().any(|(_, file)| file.is_ours) {
            MARKED_FILE_CONFIDENCE
        } else {
            CONFIDENCE
        },
        reason: format!("Found {} files with rules for coding agents", detected_files.len()),
        parts: detected_files.iter().map(|(member, file)| Part { member: *member, role: role(file) }).collect(),
        missing_parts: vec![],
    }]
}

/// The files with rules that a person wrote for the agent of this platform.
pub(crate) fn rules_of<'c>(platform: &'static str, catalog: &'c Catalog) -> impl Iterator<Item = &'c Member> {
    let is_rule = move |file: &RuleFile| file.platform == platform && !file.is_opaque && !file.is_ours;
    rule_files(catalog).filter(move |(_, file)| is_rule(file)).map(|(member, _)| member)
}

/// True for a file with memories of Hermes Agent.
pub(crate) fn is_of_hermes(catalog: &Catalog, member: &Member) -> bool {
    let has_name = HERMES_FILES.iter().any(|name| member.file_name().eq_ignore_ascii_case(name));
    has_name && rule_file(catalog, member).is_some_and(|file| file.platform == HERMES)
}

/// All rules files outside folders of dependencies and build output.
fn rule_files(catalog: &Catalog) -> impl Iterator<Item = (&Member, RuleFile)> {
    let packages = Packages::of(catalog);
    let members = catalog.members().iter().filter(move |member| !packages.contain_file(member));
    members.filter_map(move |member| Some((member, rule_file(catalog, member)?)))
}

/// Root, archive and path of each folder that has a manifest.
struct Packages<'c>(HashSet<(usize, Option<usize>, &'c str)>);

impl<'c> Packages<'c> {
    fn of(catalog: &'c Catalog) -> Self {
        let is_manifest = |name: &str| MANIFEST_FILES.iter().any(|manifest| name.eq_ignore_ascii_case(manifest));
        let manifests = catalog.members().iter().filter(|member| is_manifest(member.file_name()));
        Self(manifests.map(|member| (member.root, member.archive, folders_of(member))).collect())
    }

    /// True for a file in a folder of dependencies or build output.
    fn contain_file(&self, member: &Member) -> bool {
        let folders = folders_of(member);
        let mut start = 0;
        folders.split('/').any(|folder| {
            let parent_folder = folders.get(..start).unwrap_or_default().trim_end_matches('/');
            start += folder.len() + 1;
            let is_one_of = |names: &[&str]| names.iter().any(|name| folder.eq_ignore_ascii_case(name));
            let has_manifest = || self.0.contains(&(member.root, member.archive, parent_folder));
            is_one_of(&THIRD_PARTY_FOLDERS)
                || !parent_folder.is_empty() && is_one_of(&PACKAGE_FOLDERS) && has_manifest()
        })
    }
}

/// The folders in the name of a file.
fn folders_of(member: &Member) -> &str {
    member.name.rsplit_once('/').map_or("", |(folders, _)| folders)
}

/// Classifies a member by its name and folders, or by its frontmatter. None if it is not a rules file.
pub(super) fn rule_file(catalog: &Catalog, member: &Member) -> Option<RuleFile> {
    let by_name = by_name(catalog, member);
    let name = member.file_name().to_ascii_lowercase();
    let may_have_frontmatter = [".md", ".mdc", ".markdown", ".txt"].iter().any(|end| name.ends_with(end));
    if by_name.is_some_and(|f| f.is_opaque) || by_name.is_none() && !may_have_frontmatter {
        return by_name;
    }
    let text = text_head(catalog, member, HEAD_BYTES)?;
    if text.contains('\0') || text.trim().is_empty() {
        return None;
    }
    // JSON is never a rules file: another program uses the same file name.
    if ["{\"", "[{"].iter().any(|start| text.split_whitespace().collect::<String>().starts_with(start)) {
        return None;
    }
    let is_ours = text.starts_with(FILE_START);
    let is_of_hermes = || {
        HERMES_FILES.contains(&name.as_str()) && entries::has_separator(&text)
            || is_single_user_entry(catalog, member, &text)
    };
    let by_name = by_name
        .filter(|file| file.platform == HERMES || !is_of_hermes())
        .or_else(|| is_of_hermes().then_some(HERMES_MEMORY));
    // Other programs also use the extension `.mdc`, so it only counts for a file that is not in a folder.
    let may_be_of_cursor = folders_of(member).is_empty() && name.ends_with(".mdc");
    let detected_file = by_name.or_else(|| is_ours.then(|| rules("agents")));
    let detected_file = detected_file.or_else(|| by_frontmatter(&Document::parse(&text), may_be_of_cursor));
    detected_file.map(|file| RuleFile { is_ours, ..file })
}

/// True for a `USER.md` of Hermes Agent with only one entry, which contains no separator. Other agents begin a file of
/// this name with a heading or with a list of names in bold, and have further notes beside it or below its folder.
fn is_single_user_entry(catalog: &Catalog, member: &Member, text: &str) -> bool {
    if member.file_name() != "USER.md" || catalog.members().len() > MAX_HERMES_FILES {
        return false;
    }
    let text = text.trim();
    let is_paragraph = text.lines().all(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let has_other_mark = ["---", "- **", "**", "<"].iter().any(|mark| text.starts_with(mark));
    if !is_paragraph || has_other_mark || text.chars().count() > HERMES_USER_CHARS {
        return false;
    }
    let folder = folders_of(member);
    let is_below = |other: &&Member| {
        let path = other.name.strip_prefix(folder);
        let is_in_folder = folder.is_empty() || path.is_some_and(|path| path.starts_with('/'));
        other.root == member.root && other.archive == member.archive && is_in_folder
    };
    catalog.members().iter().filter(is_below).all(|other| {
        let name = other.file_name().to_ascii_lowercase();
        !name.ends_with(".md") || folders_of(other) == folder && HERMES_FILES.contains(&name.as_str())
    })
}

fn by_name(catalog: &Catalog, member: &Member) -> Option<RuleFile> {
    // The person may have selected the rules folder itself, so the name of the selected folder counts as well.
    let root = catalog.roots().get(member.root).filter(|_| member.archive.is_none() && member.place != member.name);
    let lower_path = format!("{}/{}", root.map_or("", String::as_str), member.name).to_ascii_lowercase();
    let mut folders: Vec<&str> = lower_path.split('/').collect();
    let name = folders.pop()?;
    let is_in_folder = |path: &[&str]| folders.windows(path.len()).any(|window| window == path);
    let is_markdown = name.ends_with(".md") || name.ends_with(".mdc");
    if name == "readme.md" {
        return None;
    }
    Some(match name {
        "claude.md" | "claude.local.md" => rules("claude-code"),
        "agents.md" | "agents.override.md" | "agent.md" => rules("agents"),
        "gemini.md" => rules("gemini-cli"),
        ".cursorrules" => rules("cursor"),
        ".windsurfrules" => rules("windsurf"),
        ".clinerules" => rules("cline"),
        ".goosehints" => rules("goose"),
        ".roorules" => rules("roo-code"),
        "qwen.md" if member.file_name() == "QWEN.md" => rules("qwen-code"),
        "warp.md" if member.file_name() == "WARP.md" => rules("warp"),
        "crush.md" if member.file_name() == "CRUSH.md" => rules("crush"),
        "copilot-instructions.md" => rules("github-copilot"),
        name if HERMES_FILES.contains(&name) && folders.contains(&".hermes") && folders.last() == Some(&"memories") => {
            HERMES_MEMORY
        }
        "memory.md" => RuleFile { method: "agent_memory", ..rules("agents") },
        "global_rules.md" => rules("windsurf"),
        _ if is_in_folder(&["windsurf", "memories"]) && is_markdown => {
            RuleFile { method: "agent_memory", ..rules("windsurf") }
        }
        _ if is_in_folder(&[".codeium", "windsurf", "memories"]) => {
            RuleFile { method: "agent_memory", is_opaque: true, ..rules("windsurf") }
        }
        _ if is_in_folder(&[".clinerules"]) && (is_markdown || name.ends_with(".txt")) => rules("cline"),
        _ if folders.windows(2).any(is_roo_folder) && (is_markdown || name.ends_with(".txt")) => rules("roo-code"),
        _ if !is_markdown => return None,
        _ if is_in_folder(&[".serena", "memories"]) => RuleFile { method: "agent_memory", ..rules("serena") },
        "guidelines.md" if is_in_folder(&[".junie"]) => rules("junie"),
        _ if is_in_folder(&[".claude", "rules"]) => rules("claude-code"),
        _ if is_in_folder(&[".cursor", "rules"]) => rules("cursor"),
        _ if is_in_folder(&[".windsurf", "rules"]) => rules("windsurf"),
        _ if is_in_folder(&[".github", "instructions"]) || name.ends_with(".instructions.md") => {
            rules("github-copilot")
        }
        _ => {
            let platform = RULES_FOLDERS.iter().find(|(path, _)| is_in_folder(path))?.1;
            rules(platform)
        }
    })
}

/// True for the folder of Roo Code's rules for all modes or for one mode, `.roo/rules` or `.roo/rules-<mode>`.
fn is_roo_folder(folders: &[&str]) -> bool {
    matches!(folders, [".roo", rules] if *rules == "rules" || rules.starts_with("rules-"))
}

/// Classifies a file by the members of its frontmatter. None if no agent uses these members. Most members of Cursor's
/// rules are common words, so they count only if `may_be_of_cursor` is true.
fn by_frontmatter(document: &Document<'_>, may_be_of_cursor: bool) -> Option<RuleFile> {
    document.yaml?;
    let has = |key: &str| document.fields.contains_key(key);
    let trigger = document.text("trigger");
    if has("alwaysApply") {
        Some(rules("cursor"))
    } else if trigger.is_some_and(|t| matches!(t.as_str(), "always_on" | "manual" | "model_decision" | "glob")) {
        Some(rules("windsurf"))
    } else if has("applyTo") {
        Some(rules("github-copilot"))
    } else {
        (may_be_of_cursor && CURSOR_KEYS.into_iter().any(has)).then(|| rules("cursor"))
    }
}
