//! Options of `packaging`.
use clap::Args;

/// Where a release is published.
#[derive(Args)]
pub struct ReleaseArgs {
    /// Also write server.json for the MCP registry, with this name (reverse DNS with one slash).
    #[arg(long, value_name = "NAME", requires = "bundle_url")]
    pub registry_name: Option<String>,
    /// Where the bundle can be downloaded, for server.json.
    #[arg(long, value_name = "URL", requires = "registry_name")]
    pub bundle_url: Option<String>,
}
