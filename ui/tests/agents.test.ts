import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import ClientCalls from "../src/features/activity/ClientCalls.svelte";
import { countedKind } from "../src/features/activity/log";
import Agents from "../src/features/settings/Agents.svelte";
import ConnectSheet from "../src/features/settings/ConnectSheet.svelte";
import DisconnectSheet from "../src/features/settings/DisconnectSheet.svelte";
import { emptyRequest, parseLimit, withRight } from "../src/features/settings/grant-request";
import { grantSummary } from "../src/features/settings/grant-text";
import SuggestionsView from "../src/features/suggestions/SuggestionsView.svelte";
import Sidebar from "../src/shell/Sidebar.svelte";
import type { AiClient } from "$lib/ipc";
import { failWith } from "$lib/ipc/mock/jobs";
import { agents } from "$lib/state/agents.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { nav } from "$lib/state/nav.svelte";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

beforeEach(async () => {
  mock = await start({ agents: true });
  await mock.onAgents(() => agents.onClientCall());
  nav.go("home");
});

const row = (id: string) =>
  waitFor(() => {
    const found = screen.getAllByTestId("agent").find((each) => each.dataset.id === id);
    if (!found) throw new Error(`no row ${id}`);
    return within(found);
  });
const clientOf = async (id: string): Promise<AiClient> => {
  const found = (await mock.agents()).clients.find(({ client }) => client === id);
  if (!found) throw new Error(id);
  return found;
};

describe("Settings, Agents", () => {
  it("lists the clients of this computer, with what they may see and the program that is connected", async () => {
    render(Agents);
    const claude = await row("claude_code");
    expect(claude.getByText(/^It may read and suggest\. Memories only\. Only ChatGPT and Claude\.$/)).toBeTruthy();
    expect(claude.getByText("Connected program: /usr/lib/node_modules/claude-code/cli.js")).toBeTruthy();
    expect(claude.getByText(/96 entries sent today/)).toBeTruthy();
    expect((await row("codex")).getByText("Access stopped. It can no longer read anything.")).toBeTruthy();
    expect((await row("zed")).getByText("Not connected.")).toBeTruthy();
    expect((await row("g-notes")).getByText(/Only #work\. Sensitive values are not masked\. Ends /)).toBeTruthy();
    const cursor = await row("cursor");
    expect(cursor.getByTestId("agent-connect")).toHaveProperty("disabled", true);
    expect(cursor.getByText(/syntax error in line 4/)).toBeTruthy();
    expect(screen.getAllByTestId("agent").map((each) => each.dataset.id)).not.toContain("vscode");
  });

  it("stops a client at once, and says so", async () => {
    render(Agents);
    await fireEvent.click((await row("claude_code")).getByTestId("agent-stop"));
    expect((await row("claude_code")).getByText("Access stopped. It can no longer read anything.")).toBeTruthy();
    expect(toasts.current?.text).toBe("Claude Code no longer has access.");
    expect((await mock.agents()).grants.find(({ id }) => id === "g-claude")?.state).toBe("revoked");
    expect((await row("claude_code")).queryByTestId("agent-stop")).toBeNull();
  });

  it("switches answering off and on, and shows why it could not begin", async () => {
    render(Agents);
    await fireEvent.click(await screen.findByTestId("agents-answer"));
    expect(await screen.findByText("No requests are answered until you switch this on.")).toBeTruthy();
    const found = await mock.agents();
    const problem = failWith("already_serving", "Another window answers clients already.").body;
    vi.spyOn(mock, "agents").mockResolvedValue({ ...found, answering: { enabled: true, running: false, problem } });
    await agents.load();
    expect((await screen.findByTestId("agents-problem")).textContent).toContain("is already answering agents");
  });

  it("opens the sheets for connecting and disconnecting, and the list of a client's requests", async () => {
    render(Agents);
    await fireEvent.click((await row("zed")).getByTestId("agent-connect"));
    expect(dialogs.open).toMatchObject({ kind: "connect", client: { client: "zed" } });
    await fireEvent.click((await row("claude_code")).getByTestId("agent-disconnect"));
    expect(dialogs.open).toMatchObject({ kind: "disconnect", client: { client: "claude_code" } });
    await fireEvent.click((await row("claude_code")).getByTestId("agent-calls"));
    expect([nav.section, nav.activityTab, agents.shownGrant]).toEqual(["activity", "clients", "g-claude"]);
  });

  it("says that no client was found", async () => {
    const found = await mock.agents();
    vi.spyOn(mock, "agents").mockResolvedValue({ ...found, clients: [], grants: [] });
    render(Agents);
    expect(await screen.findByTestId("agents-none")).toBeTruthy();
  });
});

describe("connecting", () => {
  it("shows the exact change without the token, and makes the grant that was chosen", async () => {
    const connectClient = vi.spyOn(mock, "connectClient");
    render(ConnectSheet, { client: await clientOf("zed") });
    const change = await screen.findByTestId("configuration-change");
    expect(change.textContent).toContain('"command": "/usr/bin/mementory"');
    expect(change.textContent).not.toContain("--- /home/ines");
    await fireEvent.click(screen.getByTestId("connect-conversations"));
    await fireEvent.click(screen.getByTestId("connect-covered"));
    await fireEvent.click(screen.getByTestId("connect-suggest"));
    await fireEvent.click(screen.getByText("Limits"));
    await fireEvent.input(screen.getByTestId("connect-per-day"), { target: { value: "100" } });
    await fireEvent.click(screen.getByTestId("connect-do"));
    await waitFor(() => expect(toasts.current?.text).toContain("Zed is connected."));
    expect(connectClient.mock.calls[0]).toEqual([
      "zed",
      { ...emptyRequest(), name: "Zed", conversations: true, uncovered: true, rights: ["read"], records_per_day: 100 },
    ]);
    expect(agents.rows.find(({ key }) => key === "zed")?.state).toBe("connected");
  });

  it("needs a right, and shows an error in place", async () => {
    render(ConnectSheet, { client: await clientOf("zed") });
    await screen.findByTestId("configuration-change");
    await fireEvent.click(screen.getByTestId("connect-read"));
    await fireEvent.click(screen.getByTestId("connect-suggest"));
    expect(screen.getByTestId("connect-do")).toHaveProperty("disabled", true);
    await fireEvent.click(screen.getByTestId("connect-read"));
    vi.spyOn(mock, "connectClient").mockRejectedValueOnce(failWith("config_broken", "x"));
    await fireEvent.click(screen.getByTestId("connect-do"));
    expect((await screen.findByTestId("connect-problem")).textContent).toContain("Correct that file first");
  });

  it("is undone by disconnecting, which also ends the grant", async () => {
    render(DisconnectSheet, { client: await clientOf("claude_code") });
    expect((await screen.findByTestId("configuration-change")).textContent).toContain('-"mementory"');
    await fireEvent.click(screen.getByTestId("disconnect-do"));
    await waitFor(() => expect(toasts.current?.text).toBe("Claude Code is disconnected."));
    expect((await mock.agents()).grants.find(({ id }) => id === "g-claude")?.state).toBe("revoked");
    expect(agents.rows.find(({ key }) => key === "claude_code")?.state).toBe("open");
  });

  it("lists the rights in a fixed order, and ignores limits that are not numbers", () => {
    expect(withRight(["suggest"], "read", true)).toEqual(["read", "suggest"]);
    expect(withRight(["read", "suggest"], "read", false)).toEqual(["suggest"]);
    expect(["12", "0", "-1", "1.5", "x", ""].map(parseLimit)).toEqual([12, null, null, null, null, null]);
  });

  it("describes a grant in words", async () => {
    const [grant] = (await mock.agents()).grants;
    if (!grant) throw new Error("no grant");
    const all = { ...grant, conversations: true, covered: true, rights: ["read"], kinds: ["memory", "fact"] };
    expect(grantSummary(all)).toBe("It may read. Memories and conversations. Only Memory and Fact.");
  });
});

describe("the list of requests", () => {
  it("shows the requests of one client, and can stop this client", async () => {
    agents.shownGrant = "g-claude";
    await agents.load();
    render(ClientCalls);
    expect((await screen.findByTestId("calls-total")).textContent).toBe("5 requests");
    await fireEvent.click(screen.getByTestId("calls-stop"));
    await waitFor(() => expect(screen.queryByTestId("calls-stop")).toBeNull());
  });

  it("says so if this client made none, and can stop it all the same", async () => {
    agents.shownGrant = "g-claude";
    await agents.load();
    mock.clientCalls = async () => ({ calls: [], total: 0 });
    render(ClientCalls);
    expect(await screen.findByText("No requests yet")).toBeTruthy();
    expect(screen.queryByRole("table"), "no heads without rows").toBeNull();
    expect(screen.getByTestId("calls-stop")).toBeTruthy();
  });

  it("counts what was sent in words", () => {
    expect([countedKind("memory", 6), countedKind("fact", 1)]).toEqual(["6 memories", "1 fact"]);
    expect(countedKind("relation", 2), "a kind without plural forms").toBe("2 × Relation");
  });

  it("says if there are no requests yet", async () => {
    mock = await start();
    await agents.load();
    render(ClientCalls);
    expect(await screen.findByText("No requests yet")).toBeTruthy();
  });

  it("announces the first read again when the person comes back to the window", async () => {
    await agents.load();
    const firstReadsSeen = vi.spyOn(mock, "firstReadsSeen");
    const hasFocus = vi.spyOn(document, "hasFocus").mockReturnValue(false);
    mock.clientReads("g-notes", { memory: 1 });
    agents.onClientCall();
    await waitFor(() => expect(toasts.current?.text).toContain("for the first time"));
    toasts.dismiss();
    expect(firstReadsSeen).not.toHaveBeenCalled();
    hasFocus.mockRestore();
    window.dispatchEvent(new Event("focus"));
    await waitFor(() => expect(toasts.current?.text).toContain("for the first time"));
    expect(firstReadsSeen).toHaveBeenCalledWith(["g-notes"]);
  });

  it("opens from the notice of a client's first read, which is shown once", async () => {
    await agents.load();
    expect(toasts.current).toBeNull();
    mock.clientReads("g-notes", { memory: 3 });
    await waitFor(() => expect(toasts.current?.text).toBe("Notes script has read from your vault for the first time."));
    await toasts.runAction();
    expect([nav.activityTab, agents.shownGrant]).toEqual(["clients", "g-notes"]);
    mock.clientReads("g-notes", { memory: 3 });
    await agents.load();
    expect(toasts.current).toBeNull();
  });
});

describe("suggestions", () => {
  const suggestionCards = () => screen.findAllByTestId("suggestion");
  const card = async (id: string) => {
    const found = (await suggestionCards()).find((each) => each.dataset.id === id);
    if (!found) throw new Error(`no card ${id}`);
    return within(found);
  };

  it("show what is new, what would change and what would go, and from which client", async () => {
    render(SuggestionsView);
    const addition = await card("s-1");
    expect(addition.getByText("New memory")).toBeTruthy();
    expect(addition.getByText(/^from Claude Code, /)).toBeTruthy();
    expect(addition.getByText("Its reason: Said twice while planning the bathroom.")).toBeTruthy();
    const change = await card("s-2");
    expect(change.getByText(/electrical/).tagName).toBe("INS");
    expect(document.querySelector("del")).toBeTruthy();
    expect((await card("s-3")).getByText("Would move this to the Trash:")).toBeTruthy();
  });

  it("are accepted, edited, refused and refused for good", async () => {
    const decideSuggestions = vi.spyOn(mock, "decideSuggestions");
    render(SuggestionsView);
    await fireEvent.click((await card("s-1")).getByTestId("suggestion-edit"));
    await fireEvent.input(screen.getByTestId("suggestion-text"), { target: { value: "Prefers millimetres." } });
    await fireEvent.click(screen.getByTestId("suggestion-accept-edited"));
    await waitFor(async () => expect(await suggestionCards()).toHaveLength(2));
    expect(toasts.current?.text).toBe("1 suggestion accepted");
    await fireEvent.click((await card("s-2")).getByTestId("suggestion-refuse"));
    await waitFor(async () => expect(await suggestionCards()).toHaveLength(1));
    await fireEvent.click((await card("s-3")).getByTestId("suggestion-never"));
    expect(await screen.findByText("No suggestions")).toBeTruthy();
    expect(decideSuggestions.mock.calls.map(([request]) => request)).toEqual([
      { accept: [{ id: "s-1", text: "Prefers millimetres." }], refuse: [], never: [] },
      { accept: [], refuse: ["s-2"], never: [] },
      { accept: [], refuse: [], never: ["s-3"] },
    ]);
  });

  it("show the date if the suggested memory has one", async () => {
    mock.clientSuggests({ id: "s-dated", created_at: "2021-03-04T12:00:00Z" });
    render(SuggestionsView);
    expect((await card("s-dated")).getByTestId("suggestion-date").textContent).toContain("2021");
    expect((await card("s-1")).queryByTestId("suggestion-date")).toBeNull();
  });

  it("are decided together, without those whose memory has changed", async () => {
    mock.clientSuggests({ id: "s-late", op: "change", target: "m-1", before: "a", text: "b", changed_since: true });
    const decideSuggestions = vi.spyOn(mock, "decideSuggestions");
    render(SuggestionsView);
    expect((await card("s-late")).getByTestId("suggestion-accept")).toHaveProperty("disabled", true);
    await fireEvent.click(screen.getByTestId("suggestions-all"));
    expect(screen.getByText("4 selected")).toBeTruthy();
    await fireEvent.click(screen.getByTestId("suggestions-accept"));
    await waitFor(async () => expect(await suggestionCards()).toHaveLength(1));
    expect(decideSuggestions.mock.calls[0]?.[0].accept.map(({ id }) => id)).toEqual(["s-1", "s-2", "s-3"]);
  });

  it("stay in the list if a decision fails", async () => {
    vi.spyOn(mock, "decideSuggestions").mockRejectedValueOnce(failWith("store", "x"));
    render(SuggestionsView);
    await fireEvent.click((await card("s-1")).getByTestId("suggestion-accept"));
    await waitFor(() => expect(toasts.current?.text).toContain("database could not be used"));
    expect(await suggestionCards()).toHaveLength(3);
  });

  it("are counted in the sidebar, which shows them only if a client was ever connected", async () => {
    await agents.load();
    const { unmount } = render(Sidebar);
    expect(screen.getByTestId("nav-suggestions").textContent).toContain("3");
    unmount();
    mock = await start();
    await agents.load();
    render(Sidebar);
    expect(screen.queryByTestId("nav-suggestions")).toBeNull();
  });

  it("are gone when the vault locks, and a late answer does not bring them back", async () => {
    await agents.load();
    const overview = await mock.agents();
    let answer: (value: typeof overview) => void = () => undefined;
    vi.spyOn(mock, "agents").mockReturnValueOnce(new Promise((done) => (answer = done)));
    const lateLoad = agents.load();
    session.locked("person");
    answer(overview);
    await lateLoad;
    expect([agents.overview, agents.suggestions]).toEqual([null, 0]);
  });
});
