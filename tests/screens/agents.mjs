// Screens of connected clients: their list, connecting, what they asked for, what they suggest.
import { until } from "../e2e/webdriver.mjs";

const NONE_CONNECTED = "open";
const CONNECTED = "open,agents";

const openAgents = async (page) => {
  await page.click("nav-settings");
  await page.click("settings-agents");
  await page.waitFor("agent");
};
const openSuggestions = async (page) => {
  await page.waitFor("nav-suggestions");
  await page.click("nav-suggestions");
  await page.waitFor("suggestion");
};
/** Clicks a button in a client's row of the list. */
const clickIn = (page, client, testid) =>
  page.mock(
    "(client, testid) => document.querySelector(`[data-testid=agent][data-id=${client}] [data-testid=${testid}]`).click()",
    client,
    testid,
  );

/** Screens of the section on agents, in the same form as `SCREENS` in walk.mjs. */
export const AGENT_SCREENS = [
  ["agents", CONNECTED, openAgents],
  ["agents, none connected", NONE_CONNECTED, openAgents],
  [
    "agents, connect",
    NONE_CONNECTED,
    async (page) => {
      await openAgents(page);
      await clickIn(page, "claude_code", "agent-connect");
      await page.waitFor("configuration-change");
    },
  ],
  [
    "agents, disconnect",
    CONNECTED,
    async (page) => {
      await openAgents(page);
      await clickIn(page, "claude_code", "agent-disconnect");
      await page.waitFor("configuration-change");
    },
  ],
  [
    "agents, first read",
    CONNECTED,
    async (page) => {
      await openAgents(page);
      await page.mock("() => window.__mock.clientReads('g-notes', { memory: 3 })");
      await page.waitFor("toast");
    },
  ],
  [
    "agents, what they asked for",
    CONNECTED,
    async (page) => {
      await openAgents(page);
      await clickIn(page, "claude_code", "agent-calls");
      await page.waitFor("call");
    },
  ],
  ["suggestions", CONNECTED, openSuggestions],
  [
    "suggestions, selected",
    CONNECTED,
    async (page) => (
      await openSuggestions(page),
      await page.click("suggestions-all"),
      page.waitFor("suggestions-accept")
    ),
  ],
  [
    "suggestions, none",
    CONNECTED,
    async (page) => {
      await openSuggestions(page);
      await page.click("suggestions-all");
      await page.click("suggestions-never");
      await until("no suggestion", async () => (await page.browser.count("suggestion")) === 0);
    },
  ],
];
