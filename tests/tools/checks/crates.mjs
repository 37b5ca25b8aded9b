// Checks which crates, ours and others', each crate depends on. The allowed directions are the architecture (see
// ARCHITECTURE.md).
import { WORKSPACE } from "../places.mjs";
import { quiet } from "../sh.mjs";

/** Our crates, each with those of ours that it may depend on. */
const ALLOWED_DEPENDENCIES = {
  "mementory-model": [],
  "mementory-json": ["mementory-model"],
  "mementory-crypto": [],
  "mementory-scan": [],
  "mementory-evidence": ["mementory-model"],
  "mementory-meaning": [],
  "mementory-similar": ["mementory-model", "mementory-crypto"],
  "mementory-insight": ["mementory-model"],
  "mementory-container": ["mementory-model"],
  // The formats with secrets, and what they share, know the tokens of services by the prefixes in the scanner's list.
  "mementory-format": ["mementory-model", "mementory-json", "mementory-container", "mementory-scan"],
  "mementory-formats-shared": ["mementory-model", "mementory-json", "mementory-format", "mementory-scan"],
  "mementory-formats-agents": ["mementory-model", "mementory-json", "mementory-format", "mementory-formats-shared"],
  "mementory-formats-engines": ["mementory-model", "mementory-json", "mementory-format", "mementory-formats-shared"],
  "mementory-formats-vendor": ["mementory-model", "mementory-json", "mementory-format", "mementory-formats-shared"],
  "mementory-formats-files": ["mementory-model", "mementory-json", "mementory-format", "mementory-formats-shared"],
  // May use mementory-formats-agents, because an `.alf` (§6, §9) contains workspaces of agents in their own formats.
  "mementory-formats-archives": [
    "mementory-model",
    "mementory-json",
    "mementory-format",
    "mementory-formats-agents",
    // ALF (§8.3) and `.mem` (§7) forbid unencrypted secrets, so their validators search for secrets.
    "mementory-scan",
  ],
  "mementory-formats-interchange": ["mementory-model", "mementory-json", "mementory-format"],
  "mementory-formats": [
    "mementory-model",
    "mementory-format",
    "mementory-formats-agents",
    "mementory-formats-engines",
    "mementory-formats-vendor",
    "mementory-formats-files",
    "mementory-formats-archives",
    "mementory-formats-interchange",
  ],
  "mementory-search": ["mementory-model", "mementory-crypto"],
  "mementory-store": ["mementory-model", "mementory-crypto"],
  // The check must not use mementory-vault, which erases, because both would then make the same mistakes.
  "mementory-erasure-check": ["mementory-model", "mementory-crypto", "mementory-search", "mementory-store"],
  "mementory-vault": [
    "mementory-store",
    "mementory-erasure-check",
    "mementory-search",
    "mementory-model",
    "mementory-json",
    "mementory-crypto",
    "mementory-formats",
    "mementory-scan",
    "mementory-similar",
    "mementory-evidence",
    "mementory-insight",
    "mementory-meaning",
  ],
  "mementory-api": ["mementory-model", "mementory-crypto", "mementory-formats", "mementory-vault", "mementory-clients"],
  // Contains the code for the configurations of other programs, and nothing about vaults.
  "mementory-clients": [],
  "mementory-app": ["mementory-api", "mementory-mcp"],
  "mementory-mcp": ["mementory-api"],
  "mementory-cli": ["mementory-api", "mementory-clients", "mementory-mcp"],
  "mementory-testkit": ["mementory-model", "mementory-crypto", "mementory-formats", "mementory-vault", "mementory-api"],
};

/** More crates of ours that each crate may use, but only in its tests. */
const ALLOWED_IN_TESTS = {
  "mementory-formats-agents": ["mementory-formats-engines", "mementory-formats-files", "mementory-formats-vendor"],
  "mementory-formats-engines": ["mementory-formats-agents", "mementory-formats-files", "mementory-formats-vendor"],
  "mementory-formats-vendor": ["mementory-formats-agents", "mementory-formats-engines", "mementory-formats-files"],
  "mementory-formats-files": ["mementory-formats-agents", "mementory-formats-engines", "mementory-formats-vendor"],
  "mementory-formats-archives": [
    "mementory-formats-engines",
    "mementory-formats-files",
    "mementory-formats-interchange",
    "mementory-formats-vendor",
  ],
  "mementory-formats-interchange": [
    "mementory-formats-agents",
    "mementory-formats-archives",
    "mementory-formats-engines",
    "mementory-formats-files",
    "mementory-formats-vendor",
  ],
  "mementory-formats": ["mementory-crypto"],
  "mementory-testkit": ["mementory-format"],
  "mementory-insight": ["mementory-meaning"],
};

/** Third-party crates, each with the only crate of ours that may depend on it. */
const SOLE_USER_OF = {
  argon2: "mementory-crypto",
  "aes-gcm": "mementory-crypto",
  "aes-kw": "mementory-crypto",
  chacha20poly1305: "mementory-crypto",
  "ed25519-dalek": "mementory-crypto",
  "ml-dsa": "mementory-crypto",
  "x25519-dalek": "mementory-crypto",
  p256: "mementory-crypto",
  p384: "mementory-crypto",
  rsa: "mementory-crypto",
  hkdf: "mementory-crypto",
  hmac: "mementory-crypto",
  getrandom: "mementory-crypto",
  subtle: "mementory-crypto",
  rusqlite: "mementory-store",
  tantivy: "mementory-search",
  rmcp: "mementory-mcp",
  tokio: "mementory-mcp",
  tauri: "mementory-app",
  clap: "mementory-cli",
};

/** Problems with the dependencies of our crates, as cargo lists them. */
export function crateDependencyProblems() {
  const { code, stdout, stderr } = quiet("cargo", ["metadata", "--no-deps", "--format-version", "1", "--locked"], {
    cwd: WORKSPACE,
  });
  return code === 0 ? forbiddenDependencies(JSON.parse(stdout).packages) : [stderr.trim()];
}

/**
 * Problems with the dependencies of these packages, which are given as `cargo metadata` lists them: forbidden
 * dependencies, and packages that are not in our list.
 */
export function forbiddenDependencies(packages) {
  const problems = [];
  for (const { name, dependencies } of packages) {
    const allowed = ALLOWED_DEPENDENCIES[name];
    if (!allowed) {
      problems.push(`${name}: not in the list of tests/tools/checks/crates.mjs`);
      continue;
    }
    for (const { name: used, kind } of dependencies) {
      // Tests may use the testkit.
      const allowedInTests = ["mementory-testkit", ...allowed, ...(ALLOWED_IN_TESTS[name] ?? [])];
      if (kind === "dev" && allowedInTests.includes(used)) continue;
      if (used in ALLOWED_DEPENDENCIES && !allowed.includes(used)) problems.push(`${name} must not depend on ${used}`);
      // Some crates may read SQLite directly: the vault's use cases query the store's tables, the erasure check reads
      // the store's pages, the testkit reads the vault's files from outside, and formats-shared, formats-agents,
      // formats-engines and formats-files read exports that are SQLite databases.
      const mayReadSqlite =
        used === "rusqlite" &&
        [
          "mementory-testkit",
          "mementory-formats-shared",
          "mementory-formats-agents",
          "mementory-formats-engines",
          "mementory-formats-files",
          "mementory-vault",
          "mementory-erasure-check",
        ].includes(name);
      if (SOLE_USER_OF[used] && SOLE_USER_OF[used] !== name && kind !== "dev" && !mayReadSqlite)
        problems.push(`${name} must not use ${used}: that is for ${SOLE_USER_OF[used]}`);
    }
  }
  return problems;
}
