/**
 * The elements of the core's pages that are copied into the window. All others are left out. This is a second
 * safeguard: the core already escapes all texts.
 */
const ELEMENTS = new Set(["H1", "H3", "P", "ARTICLE", "TABLE", "THEAD", "TBODY", "TR", "TH", "TD"]);
const ATTRIBUTES = ["class", "dir", "scope"];

const PAGE_CLASS = "print-page";

/** Removes the page that was printed last. */
export function clearPrintPage(): void {
  for (const page of document.querySelectorAll(`body > .${PAGE_CLASS}`)) page.remove();
}

/**
 * Puts an HTML page of the core into the window, where it is visible only when printed. The page stays there, because
 * some systems still lay it out after their print dialog was closed.
 */
export function setPrintPage(html: string): void {
  clearPrintPage();
  const page = document.createElement("div");
  page.className = `print-area ${PAGE_CLASS}`;
  // A parsed document is inert: it loads and runs nothing.
  copyKnown(new DOMParser().parseFromString(html, "text/html").body, page);
  document.body.append(page);
}

/** Copies the texts and the elements in `ELEMENTS` from `from` to `to`. */
function copyKnown(from: Element, to: Element): void {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) to.append(node.textContent ?? "");
    if (!(node.nodeType === Node.ELEMENT_NODE && ELEMENTS.has((node as Element).tagName))) continue;
    const element = node as Element;
    const copy = document.createElement(element.tagName);
    for (const name of ATTRIBUTES) {
      const value = element.getAttribute(name);
      if (value !== null) copy.setAttribute(name, value);
    }
    copyKnown(element, copy);
    to.append(copy);
  }
}
