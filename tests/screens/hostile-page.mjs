// Functions of the hostile content test that run inside the page.

/** Runs before the scripts of the page. Records everything that must not happen. */
export function recordViolations() {
  const violations = [];
  window.__violations = violations;
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
    violations.push(`the policy refused ${violatedDirective} ${blockedURI} (${sourceFile}:${lineNumber})`),
  );
  for (const name of ["alert", "confirm", "prompt", "open", "print"])
    window[name] = () => void violations.push(`${name}() was called`);
  // Chromium reports `ResizeObserver loop` when a list is measured again in the next frame. That is harmless.
  addEventListener(
    "error",
    ({ message }) => /^ResizeObserver loop/.test(message) || violations.push(`an error: ${message}`),
  );
  addEventListener("unhandledrejection", ({ reason }) => violations.push(`an error: ${String(reason).slice(0, 200)}`));
}

/**
 * Makes the mock backend return these texts: as memories, conversations, files, titles, names and tags, as context of
 * sensitive values, as duplicates, and as names of imported and failed files. Hits in the palette and imports have the
 * text whose number is in `__case`. Groups of duplicates have the texts from number `__from` on, as many as the sheet
 * renders at once.
 */
export function installHostileTexts(json) {
  // The texts are passed as JSON, because lone surrogates do not pass through the WebDriver protocol.
  const texts = JSON.parse(json);
  const mock = window.__mock;
  const { list, show, thread } = mock;
  window.__shownIds = [];
  window.__texts = texts;
  const KINDS = { memory: "memory", conversation: "conversation", attachment: "file" };
  const items = (kind, item) =>
    texts.map((text, index) => ({
      ...item,
      id: `${KINDS[kind]}-${index}`,
      kind,
      text,
      title: text,
      tags: kind === "memory" ? [text] : [],
      snippet: null,
      source: index % 2 ? "claude" : "chatgpt",
      media_type: ["application/pdf", text.slice(0, 200), "text/html", text.slice(0, 200)][index % 4],
      created_at: "2026-03-01T12:00:00Z",
      updated_at: null,
      conversation_id: null,
    }));
  let sample;
  mock.list = async (request) => {
    const page = await list(request);
    sample ??= page.items[0];
    if (!KINDS[request.filter.kind] || request.filter.trashed === "only") return page;
    return { items: items(request.filter.kind, page.items[0] ?? sample), next_cursor: null, total: texts.length };
  };
  mock.facets = async () => {
    const hostileText = texts[window.__case];
    return {
      sources: { [hostileText ?? "chatgpt"]: 1 },
      types: {},
      said_by: { user: 1 },
      about: {},
      special: {},
      tags: Object.fromEntries((hostileText === undefined ? texts : [hostileText]).map((text) => [text, 1])),
      file_kinds: { document: { count: texts.length, bytes: texts.length } },
    };
  };
  mock.search = async ({ query, filter: { kind } }) => {
    const text = texts[window.__case];
    const found = { type: null, origin_id: null, conversation_id: null, created_at: null, score: 1, source: "claude" };
    const hit = { ...found, id: `${kind}-${window.__case}`, kind, title: text, snippet: text, highlights: [[0, 3]] };
    const hits = query === "this" && kind !== "message" ? [hit] : [];
    return { query, total: hits.length, took_ms: 1, hits };
  };
  mock.searchRows = async (request) => {
    const { hits } = await mock.search(request);
    const page = await mock.list({ filter: { ...request.filter, ids: [] }, sort: null, limit: 1, cursor: null });
    const rows = hits.flatMap(({ id, snippet, highlights }) =>
      page.items.filter((item) => item.id === id).map((item) => ({ ...item, snippet, highlights, message: null })),
    );
    return { rows, total: hits.length, next_offset: null };
  };
  const places = (index) =>
    ["message", "memory", "attachment"].map((kind) => ({
      id: `place-${kind}-${index}`,
      kind,
      field: "text",
      role: kind === "message" ? "user" : null,
      source: "chatgpt",
      title: texts[index],
      conversation_id: kind === "message" ? "c-bath" : null,
      at: null,
    }));
  const piece = (text, hidden = null) => ({ text, hidden, this: hidden !== null });
  const finding = (index) => ({
    value: `value-${index}`,
    class: "password",
    detector: "password_sentence",
    confidence: "likely",
    places: 3,
    judged_at: null,
    first: places(index)[0],
    context: [piece(texts[index]), piece("", "password"), piece(texts[index])],
  });
  mock.sensitiveQueue = async ({ offset, limit }) => {
    const all = texts.map((_, index) => finding(index));
    const counts = { open: { password: all.length }, redacted: {}, ignored: {} };
    return {
      items: all.slice(offset, offset + (limit || 100)),
      ...counts,
      scanned_at: "2026-11-01T12:00:00Z",
      left: 0,
    };
  };
  mock.sensitiveValue = async (value) => {
    const index = Number(value.replace(/\D/g, ""));
    return { item: finding(index), places: places(index) };
  };
  const { importPreview } = mock;
  mock.importPreview = async (...asked) => {
    const plan = await importPreview(...asked);
    const text = texts[window.__case];
    const coming = [{ kind: "memory", place: text, text }];
    const memories = plan.items.filter(({ kind }) => kind === "memory").slice(0, 3);
    return { ...plan, coming, items: memories.map((item) => ({ ...item, place: text })), missing_files: [text] };
  };
  const { duplicates } = mock;
  mock.duplicates = async (job, tell) => {
    const { groups } = await duplicates(job, tell);
    const duplicateOf = (item, index) => ({
      same: index % 2 === 0,
      items: ["older", "newer"].map((age) => ({ ...item, id: `${age}-${index}`, text: `${texts[index]} ${age}` })),
    });
    const from = window.__from ?? 0;
    const all = texts.map((_, index) => duplicateOf(groups[0]?.items[0] ?? {}, index));
    return { groups: all.slice(from, from + 20) };
  };
  const { audit } = mock;
  mock.audit = async (verify) => {
    const log = await audit(verify);
    return { ...log, entries: log.entries.filter(({ op }) => op === "import_failed") };
  };
  const { imports } = mock;
  mock.imports = async () => {
    const [batch] = (await imports()).batches;
    return { batches: [{ ...batch, names: [texts[window.__case ?? 0]] }] };
  };
  mock.failedImports = async () => {
    const [{ seq }] = (await mock.audit(false)).entries;
    const text = texts[window.__case ?? 0];
    const error = { code: "limit", message: `${text} holds too much.`, details: { place: text, limit: "total_bytes" } };
    return { failed: [{ seq, paths: [`/home/ines/${text}`, `/home/ines/Downloads/${text}`], error }] };
  };
  mock.show = async (id, history, verbatim) => {
    const shown = await show("m-0", history, verbatim);
    const [item] = items("memory", shown.record).filter((each) => each.id === id);
    window.__shownIds.push(id);
    if (!item) return show(id, history, verbatim);
    const { text } = item;
    const from = { ...shown.record.source, account: text, project: text };
    const links = shown.record.links.map((link) => ({ ...link, text, title: null }));
    return {
      ...shown,
      record: { ...shown.record, ...item, source: from, links, conversation_title: text },
      history: shown.history
        ?.slice(0, 2)
        .map((version, index) => ({ ...version, text: index ? `${text} older` : text })),
    };
  };
  mock.attachment = async (id, most) =>
    new TextEncoder().encode(texts[Number(id.replace(/\D/g, ""))]).buffer.slice(0, most);
  mock.thread = async (id) => {
    const sampled = await thread("c-bath");
    const text = texts[Number(id.replace(/\D/g, ""))];
    const plain = { ...sampled.messages[1], parent_id: null, attachments: [], memories: [], siblings: [] };
    const memory = sampled.messages.flatMap((message) => message.memories)[0];
    const file = { id: "f-1", name: text, media_type: "application/pdf", size: 1, present: false };
    return {
      ...sampled,
      conversation: { ...sampled.conversation, id, title: text },
      messages: [
        {
          ...plain,
          id: "x-1",
          role: "assistant",
          text,
          attachments: [file],
          memories: [{ ...memory, text }],
        },
        {
          ...plain,
          id: "x-2",
          parent_id: "x-1",
          role: "tool",
          content_type: "tool_result",
          text,
          model: text.slice(0, 100),
        },
      ],
      active_path: ["x-1", "x-2"],
    };
  };
}

/**
 * Finds problems on the current screen. `expect` says what is expected of it. `expect.in` is the selector of the
 * element that shows the text. If `expect.sheet` is true, a sheet covers the window, so the buttons of the window need
 * not be reachable.
 */
export function findProblems(expect) {
  const found = [...window.__violations];
  if (window.__ran !== undefined) found.push("a script ran");
  if ({}.ran !== undefined) found.push("the prototype of all objects was changed");
  if (document.title !== "Mementory") found.push(`the title of the window is ${document.title}`);
  if (location.search !== (expect.search ?? "?mock=open") || location.hash)
    found.push(`the window went to ${location.href}`);

  const REFUSED =
    "script, style, link, meta, base, iframe, frame, object, embed, applet, form, audio, video, picture, template, math [href], math [style], maction, mglyph, annotation, annotation-xml, foreignObject, use, image, [srcset], [background], [ping], [autofocus]:not(input), [formaction], [action], a[href]";
  for (const node of document.querySelectorAll(`body :is(${REFUSED})`))
    if (node.closest("main, [role=dialog], [data-testid=toast]")) found.push(`there is a ${node.localName} element`);
  for (const picture of document.querySelectorAll("img"))
    if (!picture.src.startsWith("blob:")) found.push(`a picture from ${picture.src.slice(0, 80)}`);
  for (const node of document.querySelectorAll("main *, [role=dialog] *")) {
    for (const { name } of node.attributes) if (/^on/i.test(name)) found.push(`a handler ${name}`);
    const { position } = getComputedStyle(node);
    if (position === "fixed" && !node.matches("[role=dialog], .scrim")) found.push(`${node.localName} is fixed`);
  }
  // Formulas are left out: apart from the attributes that are refused above, their attributes are only numbers and
  // names.
  for (const node of document.querySelectorAll("[data-testid=reader-message] .text > .md :not(math, math *)"))
    for (const { name } of node.attributes)
      if (!["class", "data-href", "role", "tabindex", "align", "start", "aria-label", "dir"].includes(name))
        found.push(`attribute ${name} in a message`);

  const root = document.documentElement;
  if (root.scrollWidth > innerWidth || root.scrollHeight > innerHeight || scrollX || scrollY || document.body.scrollTop)
    found.push(
      `the window scrolls: ${[root.scrollWidth, root.scrollHeight, scrollX, scrollY, document.body.scrollTop]}`,
    );
  const places = [
    "nav",
    "header",
    "main",
    "[data-testid=nav-home]",
    "[data-testid=lock-button]",
    "[data-testid=nav-settings]",
  ];
  const boxes = places.map((selector) => {
    const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
    return [x, y, width, height].map(Math.round).join();
  });
  window.__places ??= boxes;
  places.forEach((selector, at) => {
    if (boxes[at] !== window.__places[at]) found.push(`${selector} has moved: ${boxes[at]}`);
  });
  if (!expect.sheet) {
    for (const selector of places.slice(3)) {
      const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
      const hit = document.elementFromPoint(x + width / 2, y + height / 2);
      if (!hit?.closest(selector)) found.push(`${selector} cannot be clicked: ${hit?.outerHTML.slice(0, 80)}`);
    }
  } else {
    const { left, right, top, bottom } = document.querySelector("[role=dialog]").getBoundingClientRect();
    if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight)
      found.push("the sheet is larger than the window");
    // Undefined for the palette, which has no buttons.
    const close = [...document.querySelectorAll("[role=dialog] button")].at(-1)?.getBoundingClientRect();
    if (close && (close.bottom > bottom || close.right > right || close.width === 0))
      found.push("a button of the sheet is out of reach");
  }
  // Wide content has to be clipped or scroll in its own box; the pane itself must not scroll sideways.
  for (const pane of document.querySelectorAll(
    "main, [data-pane], [data-testid=reader], [data-testid=reader] .scroll > *, [role=listbox] > *, [role=dialog], [role=dialog] > :not(.visually-hidden)",
  ))
    if (pane.scrollWidth > pane.clientWidth + 1 && pane.clientWidth > 0 && getComputedStyle(pane).overflowX !== "clip")
      found.push(
        `${pane.dataset.testid ?? pane.dataset.pane ?? pane.className ?? pane.localName} is ${pane.scrollWidth - pane.clientWidth} px too wide`,
      );
  for (const row of document.querySelectorAll("[role=option]"))
    if (row.getBoundingClientRect().height > 160)
      found.push(`a row is ${Math.round(row.getBoundingClientRect().height)} px high`);

  const place = expect.in && document.querySelector(expect.in);
  if (expect.in && !place) found.push("nothing is shown");
  if (place && expect.shows)
    for (const words of expect.shows) if (!place.textContent.includes(words)) found.push(`does not show ${words}`);
  // The effect of a direction override must end with its element, so that our own text next to it keeps its order.
  const DIRECTION_MARK = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
  const ISOLATED = /\u2068[^\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*\u2069/g;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest("main, [role=dialog]")) continue;
    if (!DIRECTION_MARK.test(node.data.replaceAll(ISOLATED, ""))) continue;
    const isolated = node.parentElement.closest("[dir], bdi");
    if (!isolated || isolated.matches("html, body")) found.push(`a direction leaves ${node.parentElement.className}`);
    else if (
      getComputedStyle(isolated).display.startsWith("inline") &&
      !/isolate/.test(getComputedStyle(isolated).unicodeBidi)
    )
      found.push(`a direction leaves ${isolated.className}`);
  }
  return [...new Set(found)];
}
