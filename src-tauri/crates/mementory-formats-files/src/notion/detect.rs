//! Detects pages by the element that contains them. Notion names each file after the title of its page.
use super::page::Page;
use super::tables::{self, Group, group_of};
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::files::{extension, folder, is_inside_one, is_junk, without_extension};
use mementory_formats_shared::note_folder::notion_title;
use mementory_formats_shared::text_head::{may_be_page, text_head};
use std::collections::{BTreeMap, BTreeSet};

/// Number of bytes of a page that detection reads. The styles come before the page and take about 20 KB.
const HEAD_BYTES: usize = 64 << 10;
/// End of the name of a table with all columns of a database.
const ALL_COLUMNS: &str = "_all";

/// Returns one claim for each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut groups: BTreeMap<Group, Vec<&Member>> = BTreeMap::new();
    for member in catalog.members().iter().filter(|member| is_page(catalog, member)) {
        groups.entry(group_of(member)).or_default().push(member);
    }
    let of_tables = tables::claims(catalog, &groups.keys().copied().collect());
    groups.into_iter().map(|(group, pages)| claim(catalog, group, &pages)).chain(of_tables).collect()
}

fn is_page(catalog: &Catalog, member: &Member) -> bool {
    let is_html = extension(&member.name).is_some_and(|extension| matches!(extension.as_str(), "html" | "htm"));
    (is_html || member.is_selected_alone())
        && !is_junk(&member.name)
        && may_be_page(catalog, member)
        && text_head(catalog, member, HEAD_BYTES).is_some_and(|head| Page::parse(&head).is_some())
}

fn claim(catalog: &Catalog, group: Group, pages: &[&Member]) -> Claim {
    let names: BTreeSet<String> = pages.iter().flat_map(|page| names_of_files(page)).collect();
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let page_ids: BTreeSet<usize> = pages.iter().map(|page| page.id).collect();
    let belongs = |member: &Member| {
        let table = member.name.strip_suffix(".csv").map(|name| name.strip_suffix(ALL_COLUMNS).unwrap_or(name));
        is_inside_one(&member.name, &names) || table.is_some_and(|name| names.contains(name))
    };
    let is_other =
        |member: &&Member| group_of(member) == group && !page_ids.contains(&member.id) && !is_junk(&member.name);
    let mut parts: Vec<Part> = pages.iter().map(|page| Part { member: page.id, role: Role::Records }).collect();
    let others = catalog.members().iter().filter(is_other).filter(|member| belongs(member));
    parts.extend(others.map(|member| Part { member: member.id, role: Role::Beside }));
    Claim {
        version: Some("html".into()),
        confidence: 0.9,
        reason: match pages.len() {
            1 => "a page of Notion".into(),
            count => format!("{count} pages of Notion"),
        },
        parts,
        missing_parts: vec![],
    }
}

/// The names that the folder with the files of a page, or the table of a database, may have: that of the page, with or
/// without the id at its end.
fn names_of_files(page: &Member) -> Vec<String> {
    let stem = without_extension(&page.name);
    let dir = folder(&page.name);
    let title = notion_title(page.file_name());
    let title = title.map(|title| if dir.is_empty() { title.to_owned() } else { format!("{dir}/{title}") });
    [Some(stem.to_owned()), title].into_iter().flatten().filter(|name| !name.is_empty()).collect()
}
