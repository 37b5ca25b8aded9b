import type { FormatInfo } from "../backend";

const format = (id: string, name: string, does: string): FormatInfo => ({
  id,
  name,
  read: does.includes("r"),
  write: does.includes("w"),
  signs: does.includes("s"),
  encrypts: does.includes("e"),
});

/**
 * What the core reads (r), writes (w), signs (s) and encrypts (e), in its order; a test compares it with the source.
 */
export const sampleFormats = (): FormatInfo[] => [
  format("mem", "Portable Memory (.mem)", "rws"),
  format("alf", "Agent Life Format (.alf)", "rwe"),
  format("alf_delta", "Agent Life Format delta (.alf-delta)", "rwe"),
  format("pam", "Portable AI Memory (PAM)", "rws"),
  format("mif", "Memory Interchange Format (MIF)", "rwe"),
  format("zaxy", "Zaxy memory export", "rws"),
  format("eventloom", "Eventloom log", "r"),
  format("openclaw", "OpenClaw workspace", "rw"),
  format("zeroclaw", "ZeroClaw workspace", "rw"),
  format("chatgpt", "ChatGPT", "r"),
  format("claude", "Claude", "r"),
  format("mem0", "mem0 memories", "r"),
  format("transfer_text", "Pasted memory text", "rw"),
];
