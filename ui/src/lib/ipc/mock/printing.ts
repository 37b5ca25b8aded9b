import type { Backend, Filter, ListItem, PrintRequest, ThreadMessage } from "../backend";
import { runStages } from "./jobs";

type Commands = Pick<Backend, "printPage" | "savePage">;
type Context = {
  matching: (filter: Filter) => ListItem[];
  messages: readonly ThreadMessage[];
  stepMs: number;
};

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const element = (name: string, text: string): string => `<${name}>${escapeHtml(text)}</${name}>\n`;

/** Pages like those of the core, without its masking and styles. */
export function samplePrinting({ matching, messages, stepMs }: Context): Commands {
  const entry = (heading: string, details: string[], text: string) =>
    `<article>\n${heading ? element("h3", heading) : ""}${element("p", details.join(" · "))}${element("p", text)}</article>\n`;

  /** The parts of a page: `records` has one part for each record, and `rest` the remaining parts. */
  function parts({ list, conversation, tables }: PrintRequest): { records: string[]; rest: string[] } {
    const query = list?.query.toLowerCase() ?? "";
    const items = list ? matching(list.filter).filter((each) => each.text.toLowerCase().includes(query)) : [];
    const messageEntries = (conversation?.messages ?? []).flatMap(({ id, heading, details }) => {
      const message = messages.find((each) => each.id === id);
      return message ? [entry(heading, details, message.text)] : [];
    });
    const rows = tables.map(({ head, rows: all }) => {
      const cells = (row: string[], name: string) => row.map((cell) => element(name, cell)).join("");
      return `<table>${[...(head.length > 0 ? [cells(head, "th")] : []), ...all.map((row) => cells(row, "td"))]
        .map((row) => `<tr>${row}</tr>\n`)
        .join("")}</table>\n`;
    });
    return {
      records: [
        ...items.map((row) => entry(row.title ?? "", [row.created_at ?? "", row.source], row.text)),
        ...messageEntries,
      ],
      rest: [...(list && items.length === 0 ? [element("p", list.empty)] : []), ...rows],
    };
  }

  return {
    printPage: async (job, request, onProgress) => {
      const { records, rest } = parts(request);
      await runStages(job, ["write"], records.length, stepMs / 4, onProgress);
      const lead = request.lead.map((line) => element("p", line));
      const body = [element("h1", request.title), ...lead, ...records, ...rest].join("");
      return `<!doctype html>\n<html><head>${element("title", request.title)}</head>\n<body>\n${body}</body></html>\n`;
    },
    savePage: async (job, name, request, onProgress) => {
      const { records } = parts(request);
      await runStages(job, ["write"], records.length, stepMs / 4, onProgress);
      return { path: `/home/ines/${name}`, records: records.length };
    },
  };
}
