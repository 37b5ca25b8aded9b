//! The font of the desktop, which WebKitGTK does not use for `system-ui`. For each font in a list that is not
//! installed, WebKitGTK searches all fonts of the system, and repeats that for each size and weight. So the page gets
//! the name of the desktop's font.
use gtk::pango::FontDescription;
use gtk::prelude::GtkSettingsExt;

/// The desktop's font as a value of CSS's `font-family`. Must be called on the main thread, after GTK was initialised.
pub fn font_families() -> Option<String> {
    gtk::Settings::default()?.gtk_font_name().map(|description| families_of(&description))
}

/// The families of a font description such as `Cantarell Bold 11`. The system's sans serif font follows, for characters
/// that these families lack.
fn families_of(description: &str) -> String {
    let families = FontDescription::from_string(description).family().unwrap_or_default();
    // `sans` is GTK's name of the generic family, not a font.
    let family_names =
        families.split(',').map(str::trim).filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("sans"));
    let quoted_names = family_names.map(|name| format!("\"{}\"", name.replace(['"', '\\'], "")));
    quoted_names.chain(["sans-serif".to_owned()]).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_font_description_becomes_a_list_of_families() {
        for (description, families) in [
            ("Inter 11", "\"Inter\", sans-serif"),
            ("Noto Sans Display Bold 10.5", "\"Noto Sans Display\", sans-serif"),
            ("Cantarell, Noto Sans 11", "\"Cantarell\", \"Noto Sans\", sans-serif"),
            ("Sans 10", "sans-serif"),
            ("A\"; } * { 11", "\"A; } * {\", sans-serif"),
            ("", "sans-serif"),
        ] {
            assert_eq!(families_of(description), families, "{description}");
        }
    }
}
