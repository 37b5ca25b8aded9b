import {
  backend,
  type AgentsOverview,
  type AiClient,
  type ConnectedProgram,
  type ConnectionChange,
  type GrantInfo,
  type GrantRequest,
} from "$lib/ipc";
import { oneLine } from "$lib/logic/untrusted-text";
import { t } from "$lib/text";
import { onLock, lockGuard } from "./lock-cleanup";
import { nav } from "./nav.svelte";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";

/** A row in the list of agents: a client on this computer, or an active grant that none of these clients uses. */
export type AgentRow = {
  key: string;
  title: string;
  client: AiClient | null;
  grant: GrantInfo | null;
  program: ConnectedProgram | null;
  /**
   * `ended`: the grant has ended. `elsewhere`: the client's configuration has a token of another vault. `open`: the
   * client is not connected.
   */
  state: "connected" | "ended" | "elsewhere" | "open";
};

/** The AI clients: which are connected, their grants, and how many of their suggestions wait for a decision. */
class Agents {
  /** The AI clients on this computer, and all grants; null until loaded. */
  overview = $state.raw<AgentsOverview | null>(null);
  /** Increases after every call of a client; calls that arrive during a load increase it only once. */
  revision = $state(0);
  readonly suggestions = $derived(this.overview?.suggestions ?? 0);
  /**
   * Whether the window shows AI clients outside the settings too. It does only if there are grants (even ended ones) or
   * suggestions.
   */
  readonly used = $derived((this.overview?.grants.length ?? 0) > 0 || this.suggestions > 0);
  readonly rows = $derived(this.overview ? rowsOf(this.overview) : []);
  #run = 0;
  #hasNewCall = false;
  #loading = false;
  #waitsForFocus = false;

  /**
   * Loads the clients and grants. Errors are not shown, because loading runs in the background and is repeated at each
   * event.
   */
  async load(): Promise<void> {
    await this.#apply(backend().agents()).catch((error: unknown) => session.handleLocked(error));
  }

  /**
   * Handles the event that a client made a call. However many calls arrive during a load, only one more load follows.
   */
  onClientCall(): void {
    this.#hasNewCall = true;
    if (!this.#loading) void this.#loadUntilCurrent();
  }

  /** Loads again until no call has arrived during the last load. */
  async #loadUntilCurrent(): Promise<void> {
    this.#loading = true;
    while (this.#hasNewCall) {
      this.#hasNewCall = false;
      this.revision += 1;
      await this.load();
    }
    this.#loading = false;
  }

  /**
   * Returns what connecting a client (or disconnecting it, if `connect` is false) would change in its configuration.
   */
  preview({ client }: AiClient, connect: boolean): Promise<ConnectionChange> {
    return connect ? backend().connectPreview(client) : backend().disconnectPreview(client);
  }

  async connect(client: AiClient, request: GrantRequest): Promise<ConnectionChange> {
    const done = await backend().connectClient(client.client, request);
    await this.load();
    return done;
  }

  async disconnect(client: AiClient): Promise<ConnectionChange> {
    const done = await backend().disconnectClient(client.client);
    await this.load();
    return done;
  }

  /** Ends a grant at once. */
  async stop(grant: GrantInfo): Promise<void> {
    const isUnlocked = lockGuard();
    await this.#apply(backend().stopClient(grant.id));
    if (isUnlocked()) toasts.show(t("agents.stopped", { name: oneLine(grant.name) }), { icon: "check" });
  }

  setAnswering(on: boolean): Promise<void> {
    return this.#apply(backend().setAnswerClients(on));
  }

  /** Opens the list of the calls that were made with the grant of this id, or of all calls if the id is null. */
  showCalls(grant: string | null = null): void {
    this.shownGrant = grant;
    nav.activityTab = "clients";
    nav.go("activity");
  }
  /** Id of the grant whose calls are shown. Null shows the calls of all clients. */
  shownGrant = $state<string | null>(null);

  async #apply(request: Promise<AgentsOverview>): Promise<void> {
    const run = ++this.#run;
    const isUnlocked = lockGuard();
    const found = await request;
    if (!isUnlocked() || run !== this.#run) return;
    this.overview = found;
    this.#announce(found.grants.filter((grant) => grant.first_read_at !== null && !grant.first_read_seen));
  }

  /**
   * Shows a notice that clients have read records for the first time. The person is usually in another window at that
   * moment, so the notice is shown again when this window gets the focus. The notice counts as seen only if this window
   * has the focus while it is shown.
   */
  #announce(grants: GrantInfo[]): void {
    const [grant, more] = grants;
    if (!grant || (this.#waitsForFocus && !document.hasFocus())) return;
    const text = more
      ? t("agents.firstReads", { n: grants.length })
      : t("agents.firstRead", { name: oneLine(grant.name) });
    const run = () => this.showCalls(more ? null : grant.id);
    toasts.show(text, { icon: "alert", action: { label: t("agents.showCalls"), undo: false, run } });
    if (!document.hasFocus()) return this.#announceWithFocus();
    // If the backend cannot store that the notice was seen, the notice is shown again later.
    void backend()
      .firstReadsSeen(grants.map(({ id }) => id))
      .catch((error: unknown) => session.handleLocked(error));
  }

  #announceWithFocus(): void {
    this.#waitsForFocus = true;
    const reload = () => {
      this.#waitsForFocus = false;
      // Do not load if the vault was locked meanwhile, because unlocking loads the clients and grants again.
      if (this.overview) void this.load();
    };
    window.addEventListener("focus", reload, { once: true });
  }

  clear(): void {
    this.#run += 1;
    this.overview = null;
    this.shownGrant = null;
  }
}

/**
 * Returns a row for each client that is installed or configured on this computer, then a row for each active grant that
 * none of them uses.
 */
function rowsOf({ clients, grants, programs }: AgentsOverview): AgentRow[] {
  const programOf = (grant: GrantInfo | null) => programs.find((program) => program.grant === grant?.id) ?? null;
  const usedIds = new Set<string>();
  const rows = clients.flatMap((client): AgentRow[] => {
    if (client.installed === null && !client.configured) return [];
    const grant = grants.find((each) => each.id === client.grant) ?? null;
    if (grant) usedIds.add(grant.id);
    const state = grant ? (grant.state === "active" ? "connected" : "ended") : client.grant ? "elsewhere" : "open";
    return [{ key: client.client, title: client.title, client, grant, program: programOf(grant), state }];
  });
  const otherGrants = grants.filter((grant) => grant.state === "active" && !usedIds.has(grant.id));
  return [
    ...rows,
    ...otherGrants.map((grant): AgentRow => ({
      key: grant.id,
      title: grant.name,
      client: null,
      grant,
      program: programOf(grant),
      state: "connected",
    })),
  ];
}

export const agents = new Agents();
onLock(() => agents.clear());
