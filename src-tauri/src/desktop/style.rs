//! How the desktop wants programs to look.
use serde::Serialize;

/// The style of the desktop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, specta::Type)]
pub struct SystemStyle {
    /// The accent colour as `#rrggbb`. Null if the desktop has none.
    pub accent: Option<String>,
}

/// The colour with these parts, each between 0 and 1, as `#rrggbb`. None if a part is outside that range, which means
/// "no accent".
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux reports it"))]
pub fn accent_text(parts: [f64; 3]) -> Option<String> {
    if !parts.iter().all(|part| (0.0..=1.0).contains(part)) {
        return None;
    }
    let [red, green, blue] = parts.map(|part| (part * 255.0).round() as u8);
    Some(format!("#{red:02x}{green:02x}{blue:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accent_outside_the_range_is_none() {
        assert_eq!(accent_text([0.0, 0.5, 1.0]).as_deref(), Some("#0080ff"));
        for parts in [[-1.0, -1.0, -1.0], [0.2, 0.2, 1.01], [f64::NAN, 0.0, 0.0], [0.0, f64::INFINITY, 0.0]] {
            assert_eq!(accent_text(parts), None, "{parts:?}");
        }
    }
}
