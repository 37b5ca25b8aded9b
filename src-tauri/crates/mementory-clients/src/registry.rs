//! `server.json`, which describes a server to the MCP registry.
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The schema that the file follows.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// The longest description that the schema allows, in characters.
const MAX_DESCRIPTION: usize = 100;

/// The metadata that the registry lists.
#[derive(Debug, Clone)]
pub struct RegistryInfo<'a> {
    /// Reverse DNS name with one slash, such as `io.github.someone/mementory`.
    pub name: &'a str,
    /// The name that people see.
    pub title: &'a str,
    /// One sentence of at most 100 characters. A longer description is truncated.
    pub description: &'a str,
    /// Version of the server.
    pub version: &'a str,
    /// URL of the source repository, and the id of its host (`github`).
    pub repository: Option<(&'a str, &'a str)>,
    /// Where the bundle can be downloaded: an https address that contains `mcp`, as the registry requires.
    pub bundle_url: &'a str,
    /// Name of the environment variable for the token, and a description of it.
    pub secret: Option<(&'a str, &'a str)>,
}

/// The content of `server.json` for a bundle with these bytes.
pub fn server_json(info: &RegistryInfo<'_>, bundle: &[u8]) -> Value {
    let mut package = json!({
        "registryType": "mcpb",
        "identifier": info.bundle_url,
        "fileSha256": hex::encode(Sha256::digest(bundle)),
        "transport": { "type": "stdio" },
    });
    if let Some((name, description)) = info.secret {
        let variable = json!({ "name": name, "description": description, "isRequired": true, "isSecret": true });
        package["environmentVariables"] = json!([variable]);
    }
    let description: String = info.description.chars().take(MAX_DESCRIPTION).collect();
    let mut server = json!({
        "$schema": SCHEMA,
        "name": info.name,
        "title": info.title,
        "description": description,
        "version": info.version,
        "packages": [package],
    });
    if let Some((url, source)) = info.repository {
        server["repository"] = json!({ "url": url, "source": source });
    }
    server
}
