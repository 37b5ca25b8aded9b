import type {
  AgentsOverview,
  AiClient,
  Backend,
  ClientCall,
  ConnectionChange,
  GrantInfo,
  GrantRequest,
  SuggestionItem,
} from "../backend";
import { ago } from "./data";
import { failWith } from "./jobs";

type Commands = Pick<
  Backend,
  | "agents"
  | "connectPreview"
  | "connectClient"
  | "disconnectPreview"
  | "disconnectClient"
  | "stopClient"
  | "setAnswerClients"
  | "firstReadsSeen"
  | "clientCalls"
  | "suggestions"
  | "decideSuggestions"
  | "onAgents"
>;
/** Events that a test or the console can trigger while the window is open. */
export type SampleAgents = {
  /**
   * Simulates a request of a connected client. `grant` is the id of its grant, `left` the number of records by kind
   * that the client gets.
   */
  clientReads(grant: string, left: Record<string, number>): void;
  /** Simulates a suggestion of a connected client. */
  clientSuggests(suggestion: Partial<SuggestionItem>): void;
};
type Options = {
  requireOpen: () => void;
  /** Whether clients are connected from the start. */
  connected: boolean;
  /** The commands that change records when a suggestion is accepted. */
  records: () => Pick<Backend, "add" | "edit" | "trash">;
};

const HOME = "/home/ines";
const client = (id: string, title: string, config: string, program: string | null): AiClient => ({
  client: id,
  title,
  installed: program === null ? null : { by: "program", path: program },
  config_path: `${HOME}/${config}`,
  configured: false,
  ours: false,
  current: false,
  problems: [],
  grant: null,
});
const sampleClients = (): AiClient[] => [
  client("claude_desktop", "Claude Desktop", ".config/Claude/claude_desktop_config.json", null),
  client("claude_code", "Claude Code", ".claude.json", "/usr/bin/claude"),
  client("codex", "Codex", ".codex/config.toml", `${HOME}/.local/bin/codex`),
  {
    ...client("cursor", "Cursor", ".cursor/mcp.json", "/usr/bin/cursor"),
    problems: [{ code: "config_broken", message: `${HOME}/.cursor/mcp.json has a syntax error in line 4, column 3.` }],
  },
  client("vscode", "VS Code", ".config/Code/User/mcp.json", null),
  client("zed", "Zed", ".config/zed/settings.json", "/usr/bin/zed"),
  client("gemini_cli", "Gemini CLI", ".gemini/settings.json", null),
];

const sampleGrant = (id: string, name: string, more: Partial<GrantInfo> = {}): GrantInfo => ({
  id,
  name,
  state: "active",
  sources: [],
  kinds: [],
  types: [],
  tags: [],
  since: null,
  until: null,
  conversations: false,
  covered: true,
  rights: ["read", "suggest"],
  records_per_call: 50,
  records_per_day: 2000,
  created_at: ago(12),
  expires_at: null,
  revoked_at: null,
  last_call_at: null,
  first_read_at: null,
  first_read_seen: false,
  calls_today: 0,
  records_today: 0,
  ...more,
});

const sampleCalls = (): ClientCall[] => {
  const call = (minutes: number, tool: string, left: Record<string, number>, note: string | null = null) => ({
    at: ago(0, minutes),
    grant: "g-claude",
    client: "Claude Code",
    tool,
    left,
    note,
  });
  return [
    call(4, "search", { memory: 6, fact: 1 }),
    call(5, "fetch", { conversation: 1, message: 38 }),
    call(31, "suggest", {}, "change"),
    call(32, "list", { memory: 50 }),
    call(33, "about", {}),
    { ...call(0, "search", { memory: 3 }), at: ago(2), grant: "g-codex", client: "Codex" },
  ];
};

const sampleSuggestion = (id: string, more: Partial<SuggestionItem> = {}): SuggestionItem => ({
  id,
  client: "Claude Code",
  grant: "g-claude",
  op: "new",
  target: null,
  before: null,
  text: "Prefers metric units in drawings.",
  type: "preference",
  tags: [],
  reason: null,
  created_at: null,
  changed_since: false,
  at: ago(0, 31),
  ...more,
});

const sampleSuggestions = (): SuggestionItem[] => [
  sampleSuggestion("s-1", { tags: ["drawings"], reason: "Said twice while planning the bathroom." }),
  sampleSuggestion("s-2", {
    op: "change",
    target: "m-0",
    before: "Is renovating a timber house from 1921 and does most of the work alone.",
    text: "Is renovating a timber house from 1921 and does the electrical work with a neighbour.",
    type: null,
    reason: "The work is shared since October.",
  }),
  sampleSuggestion("s-3", {
    op: "forget",
    target: "m-3",
    before: "Is looking for a used table saw.",
    text: null,
    type: null,
  }),
];

/** What connecting (`+`) or disconnecting (`-`) changes in a configuration, as a unified diff. */
const diffOf = ({ client, config_path }: AiClient, grant: string, sign: "+" | "-"): string => {
  const token = `mementory_rs_${grant}_…`;
  const lines =
    client === "codex"
      ? [
          "[mcp_servers.mementory]",
          'command = "/usr/bin/mementory"',
          'args = ["mcp"]',
          `env = { MEMENTORY_TOKEN = "${token}" }`,
        ]
      : [
          '"mementory": {',
          '  "command": "/usr/bin/mementory",',
          '  "args": ["mcp"],',
          `  "env": { "MEMENTORY_TOKEN": "${token}" }`,
          "}",
        ];
  return [
    `--- ${config_path}`,
    `+++ ${config_path}`,
    "@@ -12,2 +12,7 @@",
    ...lines.map((line) => sign + line),
    "",
  ].join("\n");
};

/** Applies an accepted suggestion; returns the id of the record. */
async function applySuggestion(records: ReturnType<Options["records"]>, suggestion: SuggestionItem): Promise<string> {
  const { op, target, text, type, tags } = suggestion;
  if (op === "forget" && target) return (await records.trash([target])).ids[0] ?? target;
  if (target) return (await records.edit({ id: target, text, title: null, tags: null, type: null })).id;
  return (await records.add({ text: text ?? "", type, tags })).ids[0] ?? "";
}

/** Sample clients. `requireOpen` throws while the vault is locked. */
export function sampleAgents({ requireOpen, connected, records }: Options): {
  commands: Commands;
  sample: SampleAgents;
} {
  const clients = sampleClients();
  let grants: GrantInfo[] = [];
  let calls: ClientCall[] = [];
  let waiting: SuggestionItem[] = [];
  let enabled = true;
  let newGrantCount = 0;
  let notify: () => void = () => undefined;
  const link = (id: string, grant: string | null) => {
    const found = byId(id);
    Object.assign(found, { configured: grant !== null, ours: grant !== null, current: grant !== null, grant });
  };
  const byId = (id: string): AiClient => {
    const found = clients.find((each) => each.client === id);
    if (!found) throw failWith("usage", "There is no such client.");
    if (found.problems.length > 0)
      throw failWith("config_broken", "The file has a syntax error.", { place: found.config_path });
    return found;
  };
  if (connected) {
    grants = [
      sampleGrant("g-codex", "Codex", {
        state: "revoked",
        revoked_at: ago(1),
        created_at: ago(20),
        last_call_at: ago(2),
      }),
      sampleGrant("g-claude", "Claude Code", {
        sources: ["chatgpt", "claude"],
        last_call_at: ago(0, 4),
        first_read_at: ago(11),
        first_read_seen: true,
        calls_today: 5,
        records_today: 96,
      }),
      sampleGrant("g-notes", "Notes script", {
        rights: ["read"],
        tags: ["work"],
        covered: false,
        expires_at: ago(-30),
      }),
    ];
    calls = sampleCalls();
    waiting = sampleSuggestions();
    link("codex", "g-codex");
    link("claude_code", "g-claude");
  }

  const hasActiveGrant = () => grants.some((grant) => grant.state === "active");
  const overview = (): AgentsOverview => ({
    answering: { enabled, running: enabled && hasActiveGrant(), problem: null },
    clients: structuredClone(clients),
    grants: structuredClone(grants),
    programs: connected
      ? [{ grant: "g-claude", path: "/usr/bin/node", script: "/usr/lib/node_modules/claude-code/cli.js" }]
      : [],
    suggestions: waiting.length,
    problem: null,
  });
  const change = (found: AiClient, sign: "+" | "-", more: Partial<ConnectionChange> = {}): ConnectionChange => ({
    client: found.client,
    config_path: found.config_path,
    change: diffOf(found, found.grant ?? "made-when-connecting", sign),
    changed: false,
    dry_run: true,
    backup: null,
    grant: null,
    ...more,
  });
  const end = (id: string): GrantInfo => {
    const grant = grants.find((each) => each.id === id && each.state !== "revoked");
    if (!grant) throw failWith("not_found", "This vault has no grant in force with this id or name.");
    return Object.assign(grant, { state: "revoked", revoked_at: new Date().toISOString() });
  };
  const backupOf = (found: AiClient) => `${found.config_path}.mementory-backup-20261122T094105Z`;

  return {
    commands: {
      agents: async () => (requireOpen(), overview()),
      connectPreview: async (id) => (requireOpen(), change(byId(id), "+")),
      connectClient: async (id, request: GrantRequest) => {
        requireOpen();
        const found = byId(id);
        const { uncovered, expires, records_per_call, records_per_day, name, ...scope } = request;
        const grant = sampleGrant(`g-new-${++newGrantCount}`, name || found.title, {
          ...scope,
          covered: !uncovered,
          expires_at: expires,
          records_per_call: records_per_call ?? 50,
          records_per_day: records_per_day ?? 2000,
          created_at: new Date().toISOString(),
        });
        grants = [...grants, grant];
        link(id, grant.id);
        return change(found, "+", { changed: true, dry_run: false, backup: backupOf(found), grant: { ...grant } });
      },
      disconnectPreview: async (id) => (requireOpen(), change(byId(id), "-")),
      disconnectClient: async (id) => {
        requireOpen();
        const found = byId(id);
        const done = change(found, "-", { changed: true, dry_run: false, backup: backupOf(found) });
        const grant = grants.find((each) => each.id === found.grant);
        if (grant?.state === "active") end(grant.id);
        link(id, null);
        return { ...done, grant: grant ? { ...grant } : null };
      },
      stopClient: async (grant) => (requireOpen(), end(grant), overview()),
      setAnswerClients: async (on) => (requireOpen(), (enabled = on), overview()),
      firstReadsSeen: async (ids) => {
        requireOpen();
        for (const grant of grants) if (ids.includes(grant.id)) grant.first_read_seen = true;
      },
      clientCalls: async (grant) => {
        requireOpen();
        const listedCalls = calls.filter((call) => grant === null || call.grant === grant);
        return { calls: structuredClone(listedCalls), total: listedCalls.length };
      },
      suggestions: async () => (requireOpen(), { items: structuredClone(waiting) }),
      decideSuggestions: async ({ accept, refuse, never }) => {
        requireOpen();
        const accepted = [];
        for (const { id, text } of accept) {
          const found = waiting.find((each) => each.id === id);
          if (!found) throw failWith("not_found", "There is no such suggestion.", { id });
          if (found.changed_since)
            throw failWith("changed_since", "The record has changed since this was suggested.", { id });
          accepted.push({ id, record: await applySuggestion(records(), { ...found, text: text ?? found.text }) });
          waiting = waiting.filter((each) => each.id !== id);
        }
        const refused = [...refuse, ...never];
        waiting = waiting.filter((each) => !refused.includes(each.id));
        return { accepted, refused };
      },
      onAgents: async (listener) => ((notify = listener), () => undefined),
    },
    sample: {
      clientReads: (id, left) => {
        const grant = grants.find((each) => each.id === id);
        const at = new Date().toISOString();
        if (grant) {
          Object.assign(grant, { last_call_at: at, first_read_at: grant.first_read_at ?? at });
          grant.calls_today += 1;
          grant.records_today += Object.values(left).reduce((sum, n) => sum + n, 0);
        }
        calls = [{ at, grant: id, client: grant?.name ?? "", tool: "search", left, note: null }, ...calls];
        notify();
      },
      clientSuggests: (suggestion) => {
        waiting = [...waiting, sampleSuggestion(`s-new-${waiting.length}`, suggestion)];
        notify();
      },
    },
  };
}
