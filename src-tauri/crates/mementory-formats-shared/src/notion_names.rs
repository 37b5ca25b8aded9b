//! The names that Notion gives to the files of an export. The name of a page or table ends with its id, and the files
//! of a page are in a folder that is named after it.
use super::files::{file_name, folder};
use std::collections::{HashMap, HashSet};

/// Number of hexadecimal digits in an id.
pub const ID_DIGITS: usize = 32;
/// End of the name of a table with all columns of a database.
const ALL_COLUMNS: &str = "_all";

/// The title and the id in the name of a page or table. None for any other name.
pub fn title_and_id(file_name: &str) -> Option<(&str, &str)> {
    let stem = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem);
    let (title, id) = stem.strip_suffix(ALL_COLUMNS).unwrap_or(stem).rsplit_once(' ')?;
    (is_id(id) && !title.is_empty()).then_some((title, id))
}

/// True for the id of a page or table, as names contain it.
pub fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Keys of files that are the same in another export of the same page. Paths are not: the folders above a page change
/// when it is moved or exported alone, and pages with the same title have folders with the same name.
#[derive(Debug, Default)]
pub struct NotionKeys(HashMap<String, String>);

impl NotionKeys {
    /// The keys of `files`. `pages` are the paths of all pages and tables.
    pub fn new<'p>(pages: impl IntoIterator<Item = &'p str>, files: impl IntoIterator<Item = &'p str>) -> Self {
        let mut folders = HashMap::new();
        pages.into_iter().for_each(|page| add_folders(&mut folders, page));
        // Most folders of notes are not from Notion, and may have 100,000 files.
        if folders.is_empty() {
            return Self::default();
        }
        let (mut keys, mut used_keys) = (HashMap::new(), HashSet::new());
        for path in files {
            if let Some(key) = key_of(&folders, path).filter(|key| used_keys.insert(key.clone())) {
                keys.insert(path.to_owned(), key);
            }
        }
        Self(keys)
    }

    /// The key of a file: the id and the ending of a page or table, or the id of the page with the path in its folder.
    /// For any other file, and for a second file with the same key, its path.
    pub fn of<'k>(&'k self, path: &'k str) -> &'k str {
        self.0.get(path).map_or(path, String::as_str)
    }
}

/// Adds the names that the folder of a page may have. The value is None if several pages may have the same folder.
fn add_folders(folders: &mut HashMap<String, Option<String>>, page: &str) {
    let Some((title, id)) = title_and_id(file_name(page)) else { return };
    for name in [title.to_owned(), format!("{title} {id}")] {
        let path = match folder(page) {
            "" => name,
            parent => format!("{parent}/{name}"),
        };
        let known_id = folders.entry(path).or_insert_with(|| Some(id.to_owned()));
        if known_id.as_deref() != Some(id) {
            *known_id = None;
        }
    }
}

fn key_of(folders: &HashMap<String, Option<String>>, path: &str) -> Option<String> {
    let name = file_name(path);
    if let Some((title, _)) = title_and_id(name) {
        return name.get(title.len() + 1..).map(str::to_owned);
    }
    // The nearest folder that belongs to one page.
    let mut parent = folder(path);
    while !parent.is_empty() {
        if let Some(Some(id)) = folders.get(parent) {
            return path.get(parent.len()..).map(|rest| format!("{id}{rest}"));
        }
        parent = folder(parent);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILN: &str = "1f2e3d4c5b6a79881f2e3d4c5b6a7901";
    const BOWL: &str = "1f2e3d4c5b6a79881f2e3d4c5b6a7904";

    #[test]
    fn a_name_ends_with_an_id_of_32_digits() {
        let name = format!("Kiln & co. {KILN}_all.csv");
        assert_eq!(title_and_id(&name), Some(("Kiln & co.", KILN)));
        for name in
            [format!("{KILN}.md"), format!("Kiln {}.md", &KILN[1..]), format!("Kiln {}.md", KILN.to_uppercase())]
        {
            assert_eq!(title_and_id(&name), None, "{name}");
        }
    }

    #[test]
    fn the_key_of_a_file_does_not_depend_on_the_folders_above_its_page() {
        for top in ["", "Export-1/", "Work/Clay/"] {
            let kiln = format!("{top}Kiln {KILN}.md");
            let bowl = format!("{top}Kiln/Bowl {BOWL}.md");
            let files = ["Kiln/a.png", "Kiln/Bowl/img/b.png", "Kiln/Unknown/c.png", "other.png"];
            let files: Vec<String> = files.iter().map(|file| format!("{top}{file}")).collect();
            let pages = [kiln.as_str(), bowl.as_str()];
            let keys = NotionKeys::new(pages, pages.into_iter().chain(files.iter().map(String::as_str)));
            assert_eq!(keys.of(&kiln), format!("{KILN}.md"));
            assert_eq!(keys.of(&files[0]), format!("{KILN}/a.png"));
            assert_eq!(keys.of(&files[1]), format!("{BOWL}/img/b.png"));
            assert_eq!(keys.of(&files[2]), format!("{KILN}/Unknown/c.png"));
            assert_eq!(keys.of(&files[3]), files[3], "it is in the folder of no page");
        }
    }

    #[test]
    fn two_files_never_have_the_same_key() {
        let pages = [format!("Kiln {KILN}.md"), format!("Kiln {BOWL}.md"), format!("old/Kiln {KILN}.md")];
        let files = ["Kiln/a.png".to_owned(), format!("Kiln {KILN}/a.png"), "old/Kiln/a.png".to_owned()];
        let paths = || pages.iter().map(String::as_str);
        let keys = NotionKeys::new(paths(), paths().chain(files.iter().map(String::as_str)));
        let found: HashSet<&str> = paths().chain(files.iter().map(String::as_str)).map(|path| keys.of(path)).collect();
        assert_eq!(found.len(), pages.len() + files.len());
        assert_eq!(keys.of(&files[0]), "Kiln/a.png", "two pages have this folder");
    }
}
