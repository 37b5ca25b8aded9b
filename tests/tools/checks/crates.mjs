// Which crate may depend on which, ours and others'. The direction is the architecture (see ARCHITECTURE.md).
import { WORKSPACE } from "../places.mjs";
import { quiet } from "../sh.mjs";

/** Our crates: what each may use of ours. */
const DIRECTION = {
  "keepsake-model": [],
  "keepsake-crypto": [],
  "keepsake-scan": [],
  "keepsake-similar": ["keepsake-model", "keepsake-crypto"],
  "keepsake-formats": ["keepsake-model"],
  "keepsake-vault": ["keepsake-model", "keepsake-crypto", "keepsake-formats", "keepsake-scan", "keepsake-similar"],
  "keepsake-api": ["keepsake-model", "keepsake-crypto", "keepsake-formats", "keepsake-vault"],
  "keepsake-app": ["keepsake-api"],
  "keepsake-cli": ["keepsake-api"],
  "keepsake-testkit": ["keepsake-model", "keepsake-crypto", "keepsake-formats", "keepsake-vault", "keepsake-api"],
};

/** Crates of others that only one of ours may touch: primitives, the store, the index, the window. */
const ONLY = {
  argon2: "keepsake-crypto",
  "aes-gcm": "keepsake-crypto",
  chacha20poly1305: "keepsake-crypto",
  "ed25519-dalek": "keepsake-crypto",
  "ml-dsa": "keepsake-crypto",
  p256: "keepsake-crypto",
  p384: "keepsake-crypto",
  rsa: "keepsake-crypto",
  hkdf: "keepsake-crypto",
  hmac: "keepsake-crypto",
  getrandom: "keepsake-crypto",
  subtle: "keepsake-crypto",
  rusqlite: "keepsake-vault",
  tantivy: "keepsake-vault",
  tauri: "keepsake-app",
  clap: "keepsake-cli",
};

/** Dependencies against the direction, as a list of problems. */
export function directions() {
  const { code, stdout, stderr } = quiet("cargo", ["metadata", "--no-deps", "--format-version", "1", "--locked"], {
    cwd: WORKSPACE,
  });
  if (code !== 0) return [stderr.trim()];
  const problems = [];
  for (const { name, dependencies } of JSON.parse(stdout).packages) {
    const allowed = DIRECTION[name];
    if (!allowed) {
      problems.push(`${name}: not in the list of tests/tools/checks/crates.mjs`);
      continue;
    }
    for (const { name: used, kind } of dependencies) {
      // Tests may use the testkit.
      if (kind === "dev" && (used === "keepsake-testkit" || allowed.includes(used))) continue;
      if (used in DIRECTION && !allowed.includes(used)) problems.push(`${name} must not depend on ${used}`);
      // The testkit looks at the vault's files from outside.
      // Some exports are SQLite databases: the formats read them from memory.
      const reads = used === "rusqlite" && ["keepsake-testkit", "keepsake-formats"].includes(name);
      if (ONLY[used] && ONLY[used] !== name && kind !== "dev" && !reads)
        problems.push(`${name} must not use ${used}: that is for ${ONLY[used]}`);
    }
  }
  return problems;
}
