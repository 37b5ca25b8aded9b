// Checks that a screen has the structure that screen readers need. Runs inside the page.

/** One line for each fault in landmarks, headings, lists and texts. */
export function structureFaults() {
  const found = [];
  const isVisible = (node) => node.checkVisibility({ visibilityProperty: true });
  const every = (selector) => [...document.querySelectorAll(selector)].filter(isVisible);
  const isDialogOpen = document.querySelector("[role=dialog], [role=alertdialog]") !== null;

  const mainCount = every("main").length;
  if (mainCount !== 1) found.push(`${mainCount} main landmarks`);
  const heads = every("h1").length;
  if (heads !== 1) found.push(`${heads} h1`);
  if (every("[data-pane=nav]").length > 0) {
    const field = document.querySelector("header input");
    if (field && !field.closest("[role=search], search")) found.push("the search field is in no search landmark");
  }
  for (const node of every("nav, aside, section[role=region], [role=complementary]"))
    if (
      document.querySelectorAll(node.localName).length > 1 &&
      !node.ariaLabel &&
      !node.hasAttribute("aria-labelledby")
    )
      found.push(`${node.localName} without a name beside others`);

  for (const list of every("[role=listbox][data-keys]")) {
    if (!list.ariaLabel) found.push("a listbox without a name");
    const options = [...list.querySelectorAll("[role=option]")];
    for (const option of options) {
      const size = Number(option.ariaSetSize);
      const place = Number(option.ariaPosInSet);
      if (!(size >= options.length && place >= 1 && place <= size)) found.push(`option ${place} of ${size}`);
      if (!option.id || !option.ariaSelected) found.push("an option without id or aria-selected");
    }
    const active = list.getAttribute("aria-activedescendant");
    if (active && !document.getElementById(active)) found.push("aria-activedescendant names nothing");
    if (list.querySelector(".active") && !active) found.push("an active row without aria-activedescendant");
  }
  for (const node of every(
    "[data-testid=reader-message] .text, [data-testid=detail-text], [data-testid=list-row] p:first-child",
  ))
    if (!node.closest("[dir=auto]") && !node.querySelector("[dir=auto]"))
      found.push(`no dir="auto" on ${node.className}`);
  for (const bar of every(".redaction"))
    if (bar.getAttribute("role") !== "img" || !bar.ariaLabel) found.push("a redaction bar without role or name");
  for (const icon of every("svg")) {
    if (icon.closest("[aria-hidden=true]") || icon.getAttribute("role") === "img" || icon.ariaLabel) continue;
    found.push(`an icon that is read out: ${icon.outerHTML.slice(0, 80)}`);
  }
  for (const progress of every("[role=progressbar]"))
    if (!progress.getAttribute("aria-valuetext")) found.push("progress without words");
  // Target sizes (WCAG 2.5.8) are left to axe. A sheet may open another sheet: the last dialog is on top, so it must
  // have the focus.
  if (
    isDialogOpen &&
    ![...document.querySelectorAll("[role=dialog], [role=alertdialog]")].at(-1).contains(document.activeElement)
  )
    found.push("the focus is outside of the open sheet");
  if (!document.documentElement.lang) found.push("the page names no language");
  return [...new Set(found)];
}

/** With forced colours, finds elements that have only a fill: they need a border or an outline to be visible. */
export function forcedColourFaults() {
  const found = [];
  const hasEdge = (node) => {
    const style = getComputedStyle(node);
    return (
      (parseFloat(style.borderTopWidth) > 0 && style.borderTopStyle !== "none") ||
      (parseFloat(style.outlineWidth) > 0 && style.outlineStyle !== "none") ||
      style.forcedColorAdjust === "none" ||
      style.textDecorationLine !== "none"
    );
  };
  const selectors = [
    "[role=option].active",
    "mark",
    ".redaction",
    ".tile",
    "[data-testid=toast]",
    "[role=dialog]",
    "[role=alertdialog]",
    "[role=menu]",
    "[role=switch]",
    "[role=checkbox]",
    "[role=progressbar]",
    "nav [aria-current=page]",
    "[role=radio][data-state=on]",
    "[role=tab][data-state=active]",
    "button.primary",
    "button.danger",
  ];
  for (const selector of selectors)
    for (const node of document.querySelectorAll(selector))
      if (node.checkVisibility({ visibilityProperty: true }) && !hasEdge(node) && ![...node.children].some(hasEdge))
        found.push(`no edge with forced colours: ${selector} ${node.className.replaceAll(/svelte-\w+/g, "")}`);
  return [...new Set(found)];
}

/** With reduced transparency, finds backgrounds that are still translucent or blur what is behind them. */
export function translucentElements() {
  const found = [];
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const alpha = (colour) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    return paint.getImageData(0, 0, 1, 1).data[3];
  };
  const alphaOf = new Map();
  for (const node of document.querySelectorAll("body, body *")) {
    const { backgroundColor, backdropFilter } = getComputedStyle(node);
    if (!alphaOf.has(backgroundColor)) alphaOf.set(backgroundColor, alpha(backgroundColor));
    const opacity = alphaOf.get(backgroundColor);
    if ((opacity === 0 || opacity === 255) && (backdropFilter ?? "none") === "none") continue;
    if (node.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      found.push(
        `shows through: ${node.localName} ${(node.getAttribute("class") ?? "").replaceAll(/svelte-\w+/g, "")}`,
      );
  }
  return [...new Set(found)];
}

/** With reduced motion, finds animations that are still running. */
export function runningAnimations() {
  return document
    .getAnimations()
    .filter((each) => each.playState === "running")
    .map((each) => `moves: ${each.animationName ?? each.transitionProperty} on ${each.effect.target.className}`);
}
