// Interop of `connect` with real clients: the programs of Claude Code and Codex read the configuration that we write,
// and `connect` preserves what these programs wrote.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { built } from "../tools/places.mjs";
import { nodePackages } from "../tools/setup.mjs";
import { ENV, quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";

const PACKAGES = ["@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.171.0"];
/** The command of another server that the person added. It is not a real server, so a client cannot connect to it. */
const OTHER_COMMAND = ["/bin/echo", "hello"];

/**
 * Each program adds another server and lists our server next to it. After our server is removed, the other server must
 * still be listed.
 */
export async function clientInterop(count) {
  if (process.platform !== "linux" || process.arch !== "x64")
    return count.leaveOut("the programs of Claude Code and Codex: only on Linux, x64");
  const load = await nodePackages(PACKAGES);
  const home = mkdtempSync(join(tmpdir(), "mementory-clients-"));
  const place = (name) => join(home, name);
  const env = {
    ...ENV,
    HOME: home,
    MEMENTORY_SOCKET: place("run/clients.sock"),
    MEMENTORY_DATA_DIR: place("data"),
    // Keep the programs from using the network for updates and telemetry.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
  };
  for (const name of ["XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "CLAUDECODE"]) delete env[name];
  const mementory = (...args) =>
    parseJsonOutput(
      quiet(built("mementory"), ["--vault", place("v"), "--passphrase-file", place("p"), "--json", ...args], { env }),
    );
  const runClient = (program, ...args) => quiet(program, args, { env, cwd: home });
  try {
    writeFileSync(place("p"), "correct horse battery staple\n", { mode: 0o600 });
    mkdirSync(place(".codex"));
    mementory("create", place("v"), "--kdf-floor");
    const clients = [
      {
        client: "claude_code",
        program: packagedProgram(load, "@anthropic-ai/claude-code-linux-x64", "claude"),
        config: place(".claude.json"),
        // To list the servers, Claude Code starts each of them and connects to it.
        isListed: ({ stdout }) => /^mementory: .* mcp .*Connected/m.test(stdout),
        shown: (program) => runClient(program, "mcp", "get", "mementory").stdout,
        forAllProjects: ["--scope", "user"],
      },
      {
        client: "codex",
        program: packagedProgram(load, "@openai/codex-linux-x64", "codex"),
        config: place(".codex/config.toml"),
        isListed: ({ stdout }) => /^mementory .* enabled/m.test(stdout),
        shown: (program) => runClient(program, "mcp", "get", "mementory", "--json").stdout,
        forAllProjects: [],
      },
    ];
    for (const { client, program, config, isListed, shown, forAllProjects } of clients) {
      const added = runClient(program, "mcp", "add", "other", "--", ...OTHER_COMMAND);
      count.add(`${client} mcp add makes its configuration`, added.code === 0 && existsSync(config));
      const configBefore = readFileSync(config, "utf8");
      const connected = mementory("connect", client);
      count.add(
        `connect ${client} changes the configuration and backs it up`,
        connected.changed === true && existsSync(connected.backup ?? ""),
      );

      const list = runClient(program, "mcp", "list");
      const listsBoth = list.code === 0 && isListed(list) && /^other/m.test(list.stdout);
      if (!listsBoth) console.log(`  ${list.stdout}${list.stderr}`);
      count.add(`${client} mcp list has our server and the other server`, listsBoth);
      count.add(`${client} mcp get reads the token`, shown(program).includes("MEMENTORY_TOKEN"));

      const addedMore = runClient(program, "mcp", "add", "more", "--", ...OTHER_COMMAND);
      count.add(`${client} mcp add accepts what connect wrote`, addedMore.code === 0);
      count.add(`${client} still has our server`, shown(program).includes(built("mementory")));
      count.add(`connect ${client} again changes nothing`, mementory("connect", client).changed === false);
      runClient(program, "mcp", "remove", "more");

      count.add(`disconnect ${client} changes the configuration`, mementory("disconnect", client).changed === true);
      const listAfter = runClient(program, "mcp", "list").stdout;
      count.add(
        `${client} mcp list has only the other server`,
        /^other/m.test(listAfter) && !listAfter.includes("mementory"),
      );
      if (client === "codex")
        // Codex has added an empty line, so the end of the file is not compared.
        count.add(
          "the configuration of Codex is as before connecting",
          readFileSync(config, "utf8").trimEnd() === configBefore.trimEnd(),
        );

      const byHand = runClient(program, "mcp", "add", ...forAllProjects, "mementory", "--", built("mementory"), "mcp");
      const refusal = mementory("connect", client, "--dry-run");
      const leftAlone = byHand.code === 0 && refusal.error?.code === "not_ours";
      count.add(`${client}: connect does not change a server that the person added under our name`, leftAlone);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The path of the client's own program for this system. The npm package would start this program through Node. */
function packagedProgram(load, name, program) {
  const folder = dirname(load.resolve(`${name}/package.json`));
  const programFile = readdirSync(folder, { recursive: true }).find((path) => path.split("/").at(-1) === program);
  return join(folder, programFile ?? program);
}
