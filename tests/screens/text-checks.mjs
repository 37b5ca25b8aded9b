// Checks of the texts on a screen: functions that run inside the page and return what they found.

/**
 * Source of a function that finds texts and accessible names that do not come from the message file. Run it while the
 * messages are marked: text outside of all marks is then either sample data, a name, a number or a date, or it is
 * hard-coded. Marks are counted over the whole page in document order, because one message, such as a sentence with a
 * link, can be divided into several text nodes.
 */
export const UNMARKED_SOURCE = `(names) => {
  const LETTER = /\\p{L}{2}/u;
  const data = [...window.__data].join("\\n").toLowerCase().replaceAll(/\\s+/g, " ");
  const plain = (text) => text.replaceAll(/[^\\p{L}\\p{N}\\p{M}]+/gu, " ").trim().toLowerCase();
  const known = new Set(names.map(plain));
  const plainData = plain(data);
  const months = [...Array(12).keys()].flatMap((month) => ["long", "short"].map((style) => plain(new Intl.DateTimeFormat("de-DE", { day: "numeric", month: style }).formatToParts(new Date(2026, month, 1)).find((part) => part.type === "month").value)));
  const isOwnText = (piece) => {
    const words = plain(piece);
    // Ignore counts and the digit groups of a fingerprint next to a name from the data.
    const named = words.split(" ").filter((word) => /\\p{L}/u.test(word) && !/^[0-9a-f]{4}$/.test(word)).join(" ");
    if (!LETTER.test(named) || known.has(named) || known.has(words) || plainData.includes(named) || plainData.includes(words)) return false;
    const unknownWords = words.split(" ").filter((word) => LETTER.test(word) && !months.includes(word) && !known.has(word));
    return unknownWords.length > 0;
  };
  const textsOutsideMarks = (text, depth) => {
    const pieces = [""];
    for (const letter of text) {
      if (letter === "⟦") depth += 1;
      else if (letter === "⟧") (depth -= 1), pieces.push("");
      else if (depth === 0) pieces[pieces.length - 1] += letter;
    }
    return [pieces.filter((piece) => piece.split(", ").some(isOwnText)), depth];
  };
  const found = [];
  let depth = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.parentElement.closest("script, style, .tile, textarea, [lang]:not(html)")) continue;
      const [pieces, next] = textsOutsideMarks(node.data, depth);
      depth = next;
      found.push(...pieces.map((piece) => "text: " + piece.trim()));
    } else {
      for (const name of ["aria-label", "title", "placeholder", "alt", "aria-valuetext", "aria-description", "aria-roledescription"]) {
        const value = node.getAttribute(name);
        if (value) found.push(...textsOutsideMarks(value, 0)[0].map((piece) => name + ": " + piece.trim()));
      }
    }
  }
  if (depth !== 0) found.push("marks that do not close");
  return [...new Set(found)];
}`;

/**
 * Selector of elements that keep the language in which they were first shown: a toast and the title of a receipt.
 */
export const KEEPS_LANGUAGE_SELECTOR = "[data-testid=toast], [data-testid=receipt] .head";

/** Source of a function that finds marked texts that are still there after a change of the language. */
export const NOT_UPDATED_SOURCE = `(except) => {
  const outdated = [];
  for (const node of document.querySelectorAll("body *")) {
    if (node.closest(except)) continue;
    for (const child of node.childNodes) if (child.nodeType === Node.TEXT_NODE && /[⟦⟧]/.test(child.data)) outdated.push(child.data.trim());
    for (const name of ["aria-label", "title", "placeholder"]) if (/[⟦⟧]/.test(node.getAttribute(name) ?? "")) outdated.push(name + ": " + node.getAttribute(name));
  }
  return [...new Set(outdated)];
}`;

/**
 * Source of a function that finds untranslated texts and accessible names: they equal an English message whose
 * translation is different.
 */
export const ENGLISH_SOURCE = `(patterns, own) => {
  const english = new RegExp("^(?:" + patterns.join("|") + ")$", "u");
  const data = [...window.__data].join("\\n");
  const ownTextPattern = new RegExp("^(?:" + own.join("|") + ")$", "u");
  const texts = new Set();
  for (const node of document.querySelectorAll("body *")) {
    if (node.closest("script, style, [lang=en]")) continue;
    for (const child of node.childNodes) if (child.nodeType === Node.TEXT_NODE) texts.add(child.data.trim());
    for (const name of ["aria-label", "title", "placeholder", "alt", "aria-valuetext"]) texts.add((node.getAttribute(name) ?? "").trim());
  }
  return [...texts].filter((text) => /\\p{L}{2}/u.test(text) && english.test(text) && !ownTextPattern.test(text) && !data.includes(text));
}`;

/**
 * Source of a function that finds text that is cut off by an ancestor with hidden overflow, or that overflows its
 * control or the window. Data may be shortened with an ellipsis, but our own texts may not. The labels of months under
 * the chart are wider than a bar on purpose, so they are left out.
 */
export const CLIPPED_SOURCE = `() => {
  const SLACK = 1.5;
  const data = [...window.__data].join("\\n");
  const placeOf = (node) => {
    const parts = [];
    for (let each = node; each && each !== document.body && parts.length < 4; each = each.parentElement) {
      const classes = [...each.classList].filter((name) => !name.startsWith("svelte-")).join(".");
      parts.unshift(each.localName + (each.dataset.testid ? "#" + each.dataset.testid : "") + (classes ? "." + classes : ""));
    }
    return parts.join(" > ");
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    const parent = node.parentElement;
    if (!text || parent.closest("script, style, textarea, .visually-hidden, .chart .label, svg, [aria-hidden=true]") || !parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    // This text is hidden on purpose and only for screen readers.
    if (getComputedStyle(parent).clipPath === "inset(50%)") continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 0 && rect.height > 0);
    if (rects.length === 0) continue;
    const left = Math.min(...rects.map((rect) => rect.left));
    const right = Math.max(...rects.map((rect) => rect.right));
    const top = Math.min(...rects.map((rect) => rect.top));
    const bottom = Math.max(...rects.map((rect) => rect.bottom));
    const report = (what, box) => found.push(what + ": " + JSON.stringify(text.slice(0, 60)) + " in " + placeOf(box));
    // Text that can be blurred is personal data. It may be shown in another form than it is stored in, such as a title
    // that consists of the first words, so it is not looked up in the data.
    const isPersonal = parent.closest(".veil") !== null;
    const isData = isPersonal || (text.length > 2 && data.includes(text.replace(/^[“„「]|[”“」]$/g, "")));
    let done = false;
    let scrolledX = false;
    let scrolledY = false;
    for (let box = parent; box && box !== document.documentElement; box = box.parentElement) {
      const style = getComputedStyle(box);
      const rect = box.getBoundingClientRect();
      if (style.display === "inline" || style.display === "contents") continue;
      if (!scrolledX && /hidden|clip/.test(style.overflowX) && (right > rect.right + SLACK || left < rect.left - SLACK)) {
        const shortened = style.textOverflow === "ellipsis";
        if (!(isData && shortened)) report(shortened ? "shortened" : "cut", box);
        done = true;
        break;
      }
      if (!scrolledY && /hidden|clip/.test(style.overflowY) && (bottom > rect.bottom + 3 || top < rect.top - 3)) {
        if (!isData) report("cut below", box);
        done = true;
        break;
      }
      if (!scrolledX && box.matches("button, a, [role=option], [role=tab], [role=radio], [role=menuitem], td, th, label, [role=dialog], kbd")) {
        if (right > rect.right + SLACK || left < rect.left - SLACK) report("wider than", box);
        else if (!scrolledY && box.matches("button, a, kbd") && (bottom > rect.bottom + 3 || top < rect.top - 3)) report("higher than", box);
      }
      if (/auto|scroll/.test(style.overflowX)) scrolledX = true;
      if (/auto|scroll/.test(style.overflowY)) scrolledY = true;
      if (style.position === "fixed") break;
    }
    if (!done && !scrolledX && (right > innerWidth + SLACK || left < -SLACK)) report("outside of the window", parent);
  }
  if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight + 1) found.push("the window scrolls");
  return [...new Set(found)];
}`;
