//! Finds AI clients on this computer and adds a stdio MCP server to the configuration of each, or removes it again,
//! without touching anything else in the file.
//!
//! [`plan_connect`] and [`plan_disconnect`] only read; [`Plan::apply`] writes exactly what the plan showed, or nothing.
//! [`doctor`] reports which clients are connected and what is wrong. [`write_mcpb`] and [`server_json`] create files
//! that a release publishes. See `README.md` for the configuration files of each client and for the reasons.
mod bundle;
mod client;
mod diff;
mod doctor;
mod error;
mod file;
mod json_edit;
mod json_parse;
mod json_render;
mod places;
mod plan;
mod registry;
mod server;
mod text;
mod toml_edits;

pub use bundle::{Binary, BundleInfo, Tool, UserSecret, write_mcpb};
pub use client::Client;
pub use doctor::{ClientReport, Found, Problem, check_client, doctor};
pub use error::{Error, FileKind, IoKind};
pub use places::{Places, System};
pub use plan::{Action, Applied, Plan, connected_variable, plan_connect, plan_disconnect};
pub use registry::{RegistryInfo, server_json};
pub use server::{ADDED_VARIABLE, Server};
