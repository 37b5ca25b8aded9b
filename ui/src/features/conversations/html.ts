import { markHits } from "$lib/logic/hits";
import { safeNodes } from "$lib/logic/markdown";
import { splitSegments } from "$lib/logic/text-segments";
import { nameInSentence, t, word } from "$lib/text";

/**
 * Returns a Svelte attachment that inserts sanitised HTML and shows redactions as bars. It marks the hits of `needle`
 * and scrolls to the hit with the index `current`.
 */
export function renderHtml(html: string, needle: string, current: number | null) {
  return (element: HTMLElement): void => {
    element.replaceChildren(safeNodes(html));
    drawRedactions(element);
    mark(element, needle, current);
  };
}

/** Like `renderHtml`, but inserts plain text. */
export function renderPlainText(text: string, needle: string, current: number | null) {
  return (element: HTMLElement): void => {
    element.textContent = text;
    drawRedactions(element);
    mark(element, needle, current);
  };
}

function mark(element: HTMLElement, needle: string, current: number | null): void {
  if (needle === "") return;
  const marks = markHits(element, needle, current);
  if (current !== null) marks[current]?.[0]?.scrollIntoView({ block: "nearest" });
}

function drawRedactions(root: HTMLElement): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if ((node as Text).data.includes("[REDACTED:")) texts.push(node as Text);
  for (const text of texts) {
    text.replaceWith(
      ...splitSegments(text.data).map((part) => {
        if (part.kind !== "bar") return part.text;
        const bar = document.createElement("span");
        bar.className = "redaction";
        bar.textContent = t("bar.word");
        bar.setAttribute("role", "img");
        bar.setAttribute(
          "aria-label",
          part.text === "removed"
            ? t("bar.hidden")
            : t("bar.redacted", { what: nameInSentence(word("class", part.text)) }),
        );
        return bar;
      }),
    );
  }
}
