//! The supported clients, and how the configuration of each represents a server.

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Anthropic's Claude Desktop.
    ClaudeDesktop,
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex. Its command line, editor extension and desktop app share one configuration file.
    Codex,
    /// Anysphere's Cursor.
    Cursor,
    /// Microsoft's Visual Studio Code.
    VsCode,
    /// Zed Industries' Zed.
    Zed,
    /// Google's Gemini CLI.
    GeminiCli,
}

/// The syntax of a client's configuration file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Syntax {
    Json(JsonShape),
    /// `[mcp_servers.<name>]`
    Toml,
}

/// The JSON syntax that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// JSON only.
    Strict,
    /// JSON with comments.
    Comments,
    /// JSON with comments and trailing commas.
    Relaxed,
}

/// The shape of a JSON configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonShape {
    /// The member of the root object that contains the servers.
    pub section: &'static str,
    /// Whether an entry needs `"type": "stdio"`.
    pub with_type: bool,
    /// The JSON syntax that the client accepts.
    pub dialect: Dialect,
}

impl Client {
    /// All clients, in the order in which they are listed.
    pub const ALL: [Self; 7] =
        [Self::ClaudeDesktop, Self::ClaudeCode, Self::Codex, Self::Cursor, Self::VsCode, Self::Zed, Self::GeminiCli];

    /// A stable id in lower snake case.
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude_desktop",
            Self::ClaudeCode => "claude_code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Zed => "zed",
            Self::GeminiCli => "gemini_cli",
        }
    }

    /// The product name as its vendor writes it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Zed => "Zed",
            Self::GeminiCli => "Gemini CLI",
        }
    }

    /// The client with this id. `-` may be written instead of `_`, and case is ignored. `None` if there is no such
    /// client.
    pub fn parse(id: &str) -> Option<Self> {
        let id = id.to_lowercase().replace('-', "_");
        Self::ALL.into_iter().find(|client| client.id() == id)
    }

    pub(crate) fn syntax(self) -> Syntax {
        let shape = match self {
            Self::ClaudeDesktop => JsonShape { section: "mcpServers", with_type: false, dialect: Dialect::Strict },
            Self::ClaudeCode => JsonShape { section: "mcpServers", with_type: true, dialect: Dialect::Strict },
            Self::Codex => return Syntax::Toml,
            Self::Cursor => JsonShape { section: "mcpServers", with_type: true, dialect: Dialect::Relaxed },
            Self::VsCode => JsonShape { section: "servers", with_type: true, dialect: Dialect::Relaxed },
            Self::Zed => JsonShape { section: "context_servers", with_type: false, dialect: Dialect::Relaxed },
            Self::GeminiCli => JsonShape { section: "mcpServers", with_type: false, dialect: Dialect::Comments },
        };
        Syntax::Json(shape)
    }

    /// True if the client would expand a variable in this value, so that the server would receive a different value.
    pub(crate) fn expands(self, value: &str) -> bool {
        match self {
            Self::GeminiCli => value.contains('$'),
            Self::ClaudeCode | Self::Cursor | Self::VsCode => value.contains("${"),
            Self::ClaudeDesktop | Self::Codex | Self::Zed => false,
        }
    }

    /// Names that the client's program may have on the `PATH`.
    pub(crate) fn program_names(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeDesktop => &["claude-desktop"],
            Self::ClaudeCode => &["claude"],
            Self::Codex => &["codex"],
            Self::Cursor => &["cursor", "cursor-agent"],
            Self::VsCode => &["code"],
            Self::Zed => &["zed", "zeditor"],
            Self::GeminiCli => &["gemini"],
        }
    }

    /// Name of the client's application on macOS.
    pub(crate) fn mac_application(self) -> Option<&'static str> {
        match self {
            Self::ClaudeDesktop => Some("Claude.app"),
            Self::ClaudeCode | Self::GeminiCli => None,
            Self::Codex => Some("Codex.app"),
            Self::Cursor => Some("Cursor.app"),
            Self::VsCode => Some("Visual Studio Code.app"),
            Self::Zed => Some("Zed.app"),
        }
    }
}
