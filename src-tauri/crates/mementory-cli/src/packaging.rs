//! Writes the files that a release contains besides the programs. Man pages and shell completions are generated from
//! the definition of the command line. The bundle for Claude Desktop contains this program, and an entry for the MCP
//! registry describes the bundle.
use crate::{
    args::Cli,
    command_result::{CommandResult, success},
    release_args::ReleaseArgs,
};
use clap::CommandFactory;
use clap_complete::{Shell, generate_to};
use mementory_api::{ApiError, ApiResult, TOKEN_VARIABLE};
use mementory_clients::{Binary, BundleInfo, RegistryInfo, Tool, UserSecret, server_json, write_mcpb};
use std::{io::Cursor, path::Path};

/// A token that claims all rights, so that all tools are listed. No vault accepts it.
const ALL_RIGHTS: &str = "mementory_rse_0_0";
const DESCRIPTION: &str = "Lets an assistant use the memories that you keep in Mementory, as far as you allow.";
const TOKEN_TEXT: &str = "Token of this client, which `mementory grants add` prints once.";

/// Writes `man/mementory*.1`, `completions/`, `mementory.mcpb` and, if requested, `server.json` into `dir`, which is
/// created. Returns the number of files.
///
/// # Errors
/// `io`.
pub fn write(dir: &Path, release: &ReleaseArgs) -> ApiResult<CommandResult> {
    let files = write_files(dir)
        .and_then(|files| Ok(files + write_bundle(dir, release)?))
        .map_err(|error| ApiError::io(format!("The files could not be written to {}: {error}.", dir.display())))?;
    success(&serde_json::json!({ "files": files }))
}

fn write_bundle(dir: &Path, release: &ReleaseArgs) -> std::io::Result<usize> {
    let listed_tools = mementory_mcp::list_json(ALL_RIGHTS);
    let text = |tool: &serde_json::Value, member: &str| tool[member].as_str().unwrap_or_default().to_owned();
    let texts: Vec<_> = listed_tools.iter().map(|tool| (text(tool, "name"), text(tool, "description"))).collect();
    let tools: Vec<_> = texts.iter().map(|(name, description)| Tool { name, description }).collect();
    let info = BundleInfo {
        name: "mementory",
        display_name: "Mementory",
        version: env!("CARGO_PKG_VERSION"),
        description: DESCRIPTION,
        author: "Mementory",
        license: env!("CARGO_PKG_LICENSE"),
        args: &["mcp"],
        tools: &tools,
        secret: Some(UserSecret { variable: TOKEN_VARIABLE, title: "Token", description: TOKEN_TEXT }),
    };
    let platform = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let program = std::fs::read(std::env::current_exe()?)?;
    let mut bundle = Cursor::new(Vec::new());
    write_mcpb(&info, &[Binary { platform, bytes: &program }], &mut bundle).map_err(std::io::Error::other)?;
    let bundle = bundle.into_inner();
    std::fs::write(dir.join("mementory.mcpb"), &bundle)?;
    let (Some(name), Some(bundle_url)) = (&release.registry_name, &release.bundle_url) else { return Ok(1) };
    let registry = RegistryInfo {
        name,
        title: "Mementory",
        description: DESCRIPTION,
        version: env!("CARGO_PKG_VERSION"),
        repository: None,
        bundle_url,
        secret: Some((TOKEN_VARIABLE, TOKEN_TEXT)),
    };
    let json = serde_json::to_vec_pretty(&server_json(&registry, &bundle))?;
    std::fs::write(dir.join("server.json"), json)?;
    Ok(2)
}

fn write_files(dir: &Path) -> std::io::Result<usize> {
    let (pages, completions) = (dir.join("man"), dir.join("completions"));
    std::fs::create_dir_all(&pages)?;
    std::fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(Cli::command(), &pages)?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        generate_to(shell, &mut Cli::command(), "mementory", &completions)?;
    }
    Ok(std::fs::read_dir(&pages)?.count() + std::fs::read_dir(&completions)?.count())
}
