//! The bundle for Claude Desktop: a ZIP file with a manifest and the program.
use serde_json::{Map, Value, json};
use std::io::{Seek, Write};
use zip::{CompressionMethod, DateTime, ZipWriter, result::ZipResult, write::SimpleFileOptions};

/// The version of the manifest's specification.
const MANIFEST_VERSION: &str = "0.3";

/// The metadata in a bundle's manifest.
#[derive(Debug, Clone)]
pub struct BundleInfo<'a> {
    /// Machine-readable name, such as `mementory`.
    pub name: &'a str,
    /// The name that people see.
    pub display_name: &'a str,
    /// Version of the server, as a semantic version.
    pub version: &'a str,
    /// Description of the server in one sentence.
    pub description: &'a str,
    /// Name of the author.
    pub author: &'a str,
    /// SPDX identifier of the licence.
    pub license: &'a str,
    /// Arguments of the program.
    pub args: &'a [&'a str],
    /// The tools that the server can offer.
    pub tools: &'a [Tool<'a>],
    /// The secret that Claude Desktop asks for when the bundle is installed. `None` if the server needs no secret.
    pub secret: Option<UserSecret<'a>>,
}

/// A tool as the manifest lists it.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'a> {
    /// The tool's name in the protocol.
    pub name: &'a str,
    /// What the tool does.
    pub description: &'a str,
}

/// A secret that the person enters. Claude Desktop stores it in the system's keychain.
#[derive(Debug, Clone, Copy)]
pub struct UserSecret<'a> {
    /// The environment variable that receives the secret.
    pub variable: &'a str,
    /// Label of the field.
    pub title: &'a str,
    /// Explains what the secret is and where it comes from.
    pub description: &'a str,
}

/// The program for one operating system.
#[derive(Debug, Clone, Copy)]
pub struct Binary<'a> {
    /// `linux`, `darwin` or `win32`.
    pub platform: &'a str,
    /// The program's bytes.
    pub bytes: &'a [u8],
}

/// Writes the bundle. The bytes depend only on the input, so that builds are reproducible. `binaries` should have one
/// program for each operating system.
///
/// # Errors
/// Errors of `out` and of the ZIP writer, for example if two programs are for the same system.
pub fn write_mcpb<W: Write + Seek>(info: &BundleInfo<'_>, binaries: &[Binary<'_>], out: W) -> ZipResult<()> {
    let mut zip = ZipWriter::new(out);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    zip.start_file("manifest.json", options.unix_permissions(0o644))?;
    let manifest = serde_json::to_vec_pretty(&manifest(info, binaries)).map_err(std::io::Error::from)?;
    zip.write_all(&manifest)?;
    for binary in binaries {
        let is_large = binary.bytes.len() as u64 >= u64::from(u32::MAX);
        zip.start_file(entry_name(binary), options.unix_permissions(0o755).large_file(is_large))?;
        zip.write_all(binary.bytes)?;
    }
    zip.finish()?;
    Ok(())
}

fn entry_name(binary: &Binary<'_>) -> String {
    let ending = if binary.platform == "win32" { ".exe" } else { "" };
    format!("server/{}/mementory-mcp{ending}", binary.platform)
}

fn manifest(info: &BundleInfo<'_>, binaries: &[Binary<'_>]) -> Value {
    let in_bundle = |binary: &Binary<'_>| format!("${{__dirname}}/{}", entry_name(binary));
    let first = binaries.first();
    let mut config = json!({ "command": first.map(in_bundle).unwrap_or_default(), "args": info.args, "env": {} });
    let overrides: Map<String, Value> = binaries
        .iter()
        .skip(1)
        .map(|binary| (binary.platform.to_owned(), json!({ "command": in_bundle(binary) })))
        .collect();
    if !overrides.is_empty() {
        config["platform_overrides"] = overrides.into();
    }
    let tools: Vec<_> =
        info.tools.iter().map(|tool| json!({ "name": tool.name, "description": tool.description })).collect();
    let platforms: Vec<_> = binaries.iter().map(|binary| binary.platform).collect();
    let mut manifest = json!({
        "manifest_version": MANIFEST_VERSION,
        "name": info.name,
        "display_name": info.display_name,
        "version": info.version,
        "description": info.description,
        "author": { "name": info.author },
        "license": info.license,
        "tools": tools,
        "compatibility": { "platforms": platforms },
    });
    if let Some(secret) = &info.secret {
        config["env"][secret.variable] = "${user_config.secret}".into();
        manifest["user_config"] = json!({ "secret": {
            "type": "string",
            "title": secret.title,
            "description": secret.description,
            "sensitive": true,
            "required": true,
        } });
    }
    manifest["server"] = json!({
        "type": "binary",
        "entry_point": first.map(entry_name).unwrap_or_default(),
        "mcp_config": config,
    });
    manifest
}
