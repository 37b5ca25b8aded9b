//! The settings file of ZeroClaw (`config.toml`).

/// The settings that determine how other files are read. Only `[section]` and `key = "value"` lines are parsed.
#[derive(Default)]
pub(super) struct Settings {
    values: Vec<(String, String)>,
}

impl Settings {
    /// Parses settings. Lines with any other syntax are ignored.
    pub(super) fn parse(text: &str) -> Self {
        let (mut out, mut section) = (Self::default(), String::new());
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let line = line.trim();
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
                section = format!("{}.", name.trim_matches(['[', ' ']));
                continue;
            }
            let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { continue };
            let value = value.trim();
            let multi_line = ["\"\"\"", "'''"].into_iter().find(|q| value.starts_with(q));
            let value = match multi_line {
                Some(quote) => {
                    let mut joined_lines = value[3..].to_owned();
                    while !joined_lines.contains(quote) {
                        let Some(next) = lines.next() else { break };
                        joined_lines.push('\n');
                        joined_lines.push_str(next);
                    }
                    joined_lines.split(quote).next().unwrap_or_default().to_owned()
                }
                None => {
                    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
                    let inner = quote.and_then(|q| value[1..].rfind(q).map(|end| value[1..=end].to_owned()));
                    inner.unwrap_or_else(|| value.split('#').next().unwrap_or_default().trim().to_owned())
                }
            };
            out.values.push((format!("{section}{}", key.trim()), value));
        }
        out
    }

    /// The last value of a key of the form `section.key`.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.values.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// True if these are ZeroClaw's settings.
    pub(super) fn is_zeroclaw(&self) -> bool {
        let has_backend =
            self.get("memory.backend").is_some_and(|b| matches!(b, "sqlite" | "markdown" | "lucid" | "none"));
        let has_identity = self.get("identity.format").is_some_and(|f| matches!(f, "openclaw" | "aieos"));
        has_backend || has_identity || (self.get("default_provider").is_some() && self.get("default_model").is_some())
    }

    /// Provider and model of the embeddings. None if the settings do not state them. For the provider `openai`, the
    /// model may be missing, because there is a default.
    pub(super) fn embedding_model(&self) -> Option<String> {
        let provider = self.get("memory.embedding_provider").filter(|p| !p.is_empty() && *p != "none")?;
        let default_model = if provider == "openai" {
            "text-embedding-3-small"
        } else {
            return self.get("memory.embedding_model").map(|m| format!("{provider}/{m}"));
        };
        Some(format!(
            "{provider}/{}",
            self.get("memory.embedding_model").filter(|m| !m.is_empty()).unwrap_or(default_model)
        ))
    }
}
