import { t, word } from "$lib/text";

/** How an assistant or tool is displayed: its name, two letters, and the number of a colour. */
export type AssistantStyle = { name: string; letters: string; tone: 1 | 2 | 3 | 4 | 5 | 6 };

const EDITORS = new Set([
  "cursor",
  "windsurf",
  "codex",
  "claude_code",
  "gemini_cli",
  "openclaw",
  "zeroclaw",
  "letta",
  "langmem",
  "mcp_memory",
  "opencode",
  "agent_rules",
  "agents",
  "cline",
  "github_copilot",
  "goose",
]);

const NAMES: Record<string, string> = {
  chatgpt: "ChatGPT",
  claude: "Claude",
  gemini: "Gemini",
  cursor: "Cursor",
  copilot: "Microsoft Copilot",
  github_copilot: "GitHub Copilot",
  cline: "Cline",
  goose: "Goose",
  t3_chat: "T3 Chat",
  openrouter: "OpenRouter",
  grok: "Grok",
  deepseek: "DeepSeek",
  mistral: "Mistral",
  perplexity: "Perplexity",
  meta_ai: "Meta AI",
  kagi: "Kagi",
  snapchat: "Snapchat",
  windsurf: "Windsurf",
  codex: "Codex",
  claude_code: "Claude Code",
  gemini_cli: "Gemini CLI",
  gemini_aistudio: "Google AI Studio",
  character_ai: "Character.AI",
  grok_build: "Grok Build",
  opencode: "OpenCode",
  vscode_chat: "VS Code",
  copilot_cli: "Copilot CLI",
  qwen: "Qwen",
  yuanbao: "Yuanbao",
  doubao: "Doubao",
  amazon_q: "Amazon Q",
  void: "Void",
  tongyi: "Tongyi Qianwen",
  poe: "Poe",
  kimi: "Kimi",
  aider: "Aider",
  openai: "OpenAI",
  amp: "Amp",
  crush: "Crush",
  typingmind: "TypingMind",
  memos: "MemOS",
  notion: "Notion",
  google_keep: "Google Keep",
  logseq: "Logseq",
  llamaindex: "LlamaIndex",
  langchain: "LangChain",
  openai_agents: "OpenAI Agents SDK",
  google_adk: "Google ADK",
  pydantic_ai: "Pydantic AI",
  deepchat: "DeepChat",
  oterm: "oterm",
  page_assist: "Page Assist",
  llm: "LLM",
  qwen_code: "Qwen Code",
  kiro: "Kiro",
  droid: "Droid",
  antigravity: "Antigravity",
  hermes: "Hermes Agent",
  deepseek_harness: "DeepSeek Harness",
  agtrace: "agtrace",
  atif: "ATIF",
  atof: "ATOF",
  pi: "Pi",
  jan: "Jan",
  librechat: "LibreChat",
  lm_studio: "LM Studio",
  open_webui: "Open WebUI",
  cognee: "Cognee",
  agentcore: "AgentCore",
  memobase: "Memobase",
  supermemory: "Supermemory",
  hindsight: "Hindsight",
  aieos: "AIEOS",
  aimem: "AIMEM",
  okf: "OKF",
  mem0: "Mem0",
  openmemory: "OpenMemory",
  zep: "Zep",
  letta: "Letta",
  langmem: "LangMem",
  langsmith: "LangSmith",
  basic_memory: "Basic Memory",
  obsidian: "Obsidian",
  openclaw: "OpenClaw",
  zeroclaw: "ZeroClaw",
  mem: ".mem",
  alf: ".alf",
  mif: "MIF",
  pam: "PAM",
  zaxy: "Zaxy",
  eventloom: "Eventloom",
  amem: ".amem",
  markdown: "Markdown",
};

/** The letters of assistants for which the letters derived from the name would be those of another assistant. */
const LETTERS: Record<string, string> = {
  chatgpt: "Gp",
  cline: "Cn",
  copilot: "Cp",
  codex: "Cx",
  cognee: "Cg",
  copilot_cli: "Ci",
  github_copilot: "Gh",
  gemini_aistudio: "AS",
  openrouter: "Or",
  openmemory: "Om",
  openclaw: "Ow",
  mif: "Mf",
  llamaindex: "Li",
  memobase: "Mb",
  mem0: "M0",
  mem: "Mm",
  aieos: "Ae",
  zeroclaw: "Zc",
};

/** The style of a source or format id. Sources are written with hyphens (`claude-code`), formats with underscores. */
export function assistantStyle(id: string | null | undefined): AssistantStyle {
  const key = (id ?? "").toLowerCase().replaceAll("-", "_");
  if (key === "me" || key === "written" || key === "user") return { name: t("source.me"), letters: "Me", tone: 5 };
  if (key === "") return { name: t("source.unknown"), letters: "??", tone: 6 };
  // Brand names are not translated; descriptive names are.
  const name = NAMES[key] ?? word("format", key);
  const letters = LETTERS[key] ?? (NAMES[key] ? initials(name) : twoLetters(name));
  const tone =
    key === "chatgpt" ? 1 : key === "claude" ? 2 : key === "gemini" ? 3 : key === "cursor" || EDITORS.has(key) ? 4 : 6;
  return { name, letters, tone };
}

/** Formats whose files are named by people. Files in all other formats get their names from an assistant. */
export const PORTABLE_FORMATS: ReadonlySet<string> = new Set(
  "mem alf alf_delta mif pam zaxy eventloom amem markdown transfer_text".split(" "),
);
/** Formats that are always a folder, and therefore have its icon. */
export const FOLDER_FORMATS: ReadonlySet<string> = new Set(["mem"]);

/**
 * The name of an export, such as `ChatGPT export` for a format with a brand name. Other formats have a descriptive
 * name, which is returned unchanged.
 */
export function exportName(format: string | null): string {
  const { name } = assistantStyle(format);
  return NAMES[format ?? ""] ? t("peek.is", { name }) : name;
}

/**
 * The initials of the first two words, so that Claude Code does not look like Claude. If the name is a single word, its
 * first two letters.
 */
function initials(name: string): string {
  const [first = "", second] = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return second ? `${first.charAt(0)}${second.charAt(0)}`.toUpperCase() : twoLetters(name);
}

function twoLetters(name: string): string {
  const letters = name.replaceAll(/[^\p{L}\p{N}]/gu, "");
  return letters.charAt(0).toUpperCase() + letters.charAt(1).toLowerCase();
}
