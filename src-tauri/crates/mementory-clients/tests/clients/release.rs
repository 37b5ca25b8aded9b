//! Tests of the bundle and of `server.json`.

use crate::testing::data;
use mementory_clients::{Binary, BundleInfo, RegistryInfo, Tool, UserSecret, server_json, write_mcpb};
use serde_json::Value;
use std::{fs, io::Cursor, io::Read};

fn bundle() -> Vec<u8> {
    let tools = [
        Tool { name: "search", description: "Searches the memories" },
        Tool { name: "about", description: "Says what this client may see" },
    ];
    let info = BundleInfo {
        name: "mementory",
        display_name: "Mementory",
        version: "0.1.0",
        description: "Lets Claude use the memories that you keep in Mementory.",
        author: "Mementory",
        license: "MIT",
        args: &["--client", "claude_desktop"],
        tools: &tools,
        secret: Some(UserSecret {
            variable: "MEMENTORY_TOKEN",
            title: "Token",
            description: "Mementory shows it in Settings, Agents.",
        }),
    };
    let binaries =
        [Binary { platform: "darwin", bytes: b"mac program" }, Binary { platform: "win32", bytes: b"windows program" }];
    let mut out = Cursor::new(Vec::new());
    write_mcpb(&info, &binaries, &mut out).unwrap();
    out.into_inner()
}

fn expected(file: &str) -> Value {
    serde_json::from_slice(&fs::read(data(file)).unwrap()).unwrap()
}

#[test]
fn the_bundle_has_a_manifest_and_executable_programs() {
    let bytes = bundle();
    assert_eq!(bytes, bundle(), "the same input gives the same bytes");
    if let Some(path) = std::env::var_os("MEMENTORY_BUNDLE_OUT") {
        fs::write(path, &bytes).unwrap();
    }
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let names: Vec<_> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(names, ["manifest.json", "server/darwin/mementory-mcp", "server/win32/mementory-mcp.exe"]);
    let manifest: Value = serde_json::from_reader(zip.by_name("manifest.json").unwrap()).unwrap();
    assert_eq!(manifest, expected("manifest.json"));
    let mut program = zip.by_name("server/win32/mementory-mcp.exe").unwrap();
    assert_eq!(program.unix_mode().unwrap() & 0o777, 0o755);
    let mut content = String::new();
    program.read_to_string(&mut content).unwrap();
    assert_eq!(content, "windows program");
}

#[test]
fn the_registry_gets_the_digest_of_the_bundle() {
    let info = RegistryInfo {
        name: "io.github.example/mementory",
        title: "Mementory",
        description: &"Memories that you keep yourself, for the assistants that you choose. ".repeat(2),
        version: "0.1.0",
        repository: Some(("https://github.com/example/mementory", "github")),
        bundle_url: "https://github.com/example/mementory/releases/download/v0.1.0/mementory.mcpb",
        secret: Some(("MEMENTORY_TOKEN", "Token of this client")),
    };
    assert_eq!(server_json(&info, b"abc"), expected("server.json"));
}
