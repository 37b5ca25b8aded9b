import type { ThreadMessage } from "$lib/ipc";

/** A conversation as a tree, of which the reader shows one path. */
export class MessageTree {
  readonly byId: Map<string, ThreadMessage>;
  readonly #children = new Map<string, string[]>();
  readonly #active: Set<string>;
  /** The ids of the leaf messages in conversation order. Each leaf is the end of one branch. */
  readonly leaves: string[];

  constructor(messages: readonly ThreadMessage[], activePath: readonly string[]) {
    this.byId = new Map(messages.map((message) => [message.id, message]));
    this.#active = new Set(activePath);
    for (const message of messages) {
      const parent = message.parent_id !== null && this.byId.has(message.parent_id) ? message.parent_id : "";
      const list = this.#children.get(parent);
      if (list) list.push(message.id);
      else this.#children.set(parent, [message.id]);
    }
    this.leaves = messages.filter((message) => !this.#children.has(message.id)).map((message) => message.id);
  }

  /**
   * The path through the message `id`: its ancestors, the message itself, and below it the branch that was used last.
   */
  pathThrough(id: string): ThreadMessage[] {
    const ancestors: ThreadMessage[] = [];
    const visited = new Set<string>();
    for (
      let ancestor = this.byId.get(id);
      ancestor && !visited.has(ancestor.id);
      ancestor = ancestor.parent_id === null ? undefined : this.byId.get(ancestor.parent_id)
    ) {
      visited.add(ancestor.id);
      ancestors.push(ancestor);
    }
    const path = ancestors.reverse();
    for (let next = this.#next(id); next !== undefined && !visited.has(next); next = this.#next(next)) {
      visited.add(next);
      const message = this.byId.get(next);
      if (message) path.push(message);
    }
    return path;
  }

  /** The path that the reader shows first. */
  firstPath(): ThreadMessage[] {
    const first = this.#next("");
    return first === undefined ? [] : this.pathThrough(first);
  }

  #next(id: string): string | undefined {
    const children = this.#children.get(id) ?? [];
    return children.find((child) => this.#active.has(child)) ?? children.at(-1);
  }
}

/** One entry of the reader: a message with its collapsed steps, or collapsed steps alone. */
export type Entry = { id: string; message: ThreadMessage | null; collapsed: ThreadMessage[] };

const VISIBLE_TYPES = new Set(["text", "multimodal_text", "code", "message", ""]);

/** Whether the reader collapses this message, as it does tool calls, thinking, system messages and hidden messages. */
export function isCollapsed(message: ThreadMessage): boolean {
  return (
    message.hidden || message.role === "tool" || message.role === "system" || !VISIBLE_TYPES.has(message.content_type)
  );
}

const stepsCache = new WeakMap<ThreadMessage, ThreadMessage[]>();

/** The steps that are stored inside a message, as messages with the ids `id/0`, `id/1` … */
export function stepsOf(message: ThreadMessage): readonly ThreadMessage[] {
  if (message.steps.length === 0) return [];
  const cached = stepsCache.get(message);
  if (cached) return cached;
  const { id, parent_id, role, created_at, branch } = message;
  const emptyFields = {
    origin_id: null,
    hidden: false,
    model: null,
    attachments: [],
    siblings: [],
    memories: [],
    steps: [],
  };
  const steps = message.steps.map(({ content_type, text }, index) => ({
    ...{ ...emptyFields, id: `${id}/${index}`, parent_id, role, created_at, branch, content_type, text },
  }));
  stepsCache.set(message, steps);
  return steps;
}

export const isStep = (message: ThreadMessage): boolean => message.id.includes("/");

const ALL_STEPS = "/steps";
/** The id that refers to all steps of a message, if the exact step is unknown. */
export const stepsId = (id: string): string => `${id}${ALL_STEPS}`;
/** The id of the message that contains this step. The id of a message is returned unchanged. */
export const messageIdOf = (id: string): string => id.split("/", 1)[0] ?? id;

/**
 * Whether `wanted` refers to a message: it is the id of the message, or the id of all steps (see `stepsId`) of which
 * the message is one.
 */
export function refersTo(message: ThreadMessage, wanted: string): boolean {
  return message.id === wanted || (wanted.endsWith(ALL_STEPS) && message.id.startsWith(`${messageIdOf(wanted)}/`));
}

export function entriesOf(path: readonly ThreadMessage[]): Entry[] {
  const entries: Entry[] = [];
  let collapsed: ThreadMessage[] = [];
  const flush = () => {
    const first = collapsed[0];
    if (first) entries.push({ id: `fold-${first.id}`, message: null, collapsed });
    collapsed = [];
  };
  for (const message of path) {
    if (isCollapsed(message)) {
      collapsed.push(...stepsOf(message), message);
    } else if (message.role === "user") {
      flush();
      entries.push({ id: message.id, message, collapsed: [...stepsOf(message)] });
    } else {
      collapsed.push(...stepsOf(message));
      entries.push({ id: message.id, message, collapsed });
      collapsed = [];
    }
  }
  flush();
  return entries;
}

/** Index of the entry that shows the message, either in full or among its collapsed steps. -1 if there is none. */
export function entryIndex(entries: readonly Entry[], id: string): number {
  return entries.findIndex(
    (entry) => entry.message?.id === id || entry.collapsed.some((message) => refersTo(message, id)),
  );
}
