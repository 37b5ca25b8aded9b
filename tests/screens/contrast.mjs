// Contrast as it is rendered: every text and graphic against its background. Runs inside the page.

/**
 * Finds texts with a contrast below 4.5:1, and icons, field borders, chart marks and redaction bars below 3:1. Returns
 * {found, checked}: one line for each fault, and the number of contrasts that were checked. The background of a point is
 * computed from all elements at that point, so that overlapping elements, panes and sheets are taken into account. As in
 * WCAG, disabled controls and invisible text are excluded.
 */
export function contrastFaults() {
  const MIN_TEXT_RATIO = 4.5;
  const MIN_GRAPHIC_RATIO = 3;
  const DISABLED_SELECTOR =
    ":disabled, [aria-disabled=true], [data-disabled], label:has(:disabled), .box:has(:disabled)";
  /**
   * Selector of elements that are not checked: the logo, which WCAG exempts; previews of themes, whose names are shown
   * as text; and pictures.
   */
  const UNCHECKED_SELECTOR = ".logo, [data-testid^=theme-] svg, img, canvas";

  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = new Map();
  /** Any CSS colour as [r, g, b, alpha], each from 0 to 1. */
  const parseColour = (colour) => {
    if (!parsed.has(colour)) {
      paint.clearRect(0, 0, 1, 1);
      paint.fillStyle = "rgb(0 0 0 / 0)";
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
      parsed.set(colour, [r / 255, g / 255, b / 255, a / 255]);
    }
    return parsed.get(colour);
  };
  const blend = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const withOpacity = ([r, g, b, a], opacity) => [r, g, b, a * opacity];
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (front, back) => {
    const [low, high] = [luminance(front), luminance(back)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  /** Styles do not change during the check, so they are cached. */
  const styles = new Map();
  const styleOf = (node) => {
    const cached = styles.get(node);
    if (cached) return cached;
    const { opacity, backgroundColor, backgroundImage } = getComputedStyle(node);
    const total = Number(opacity) * (node.parentElement ? styleOf(node.parentElement).opacity : 1);
    const stops = backgroundImage.match(/(?:rgba?|color|oklab|oklch)\([^)]*\)/g) ?? [];
    const style = {
      opacity: total,
      solid: parseColour(backgroundColor)[3] > 0.02,
      fill: withOpacity(parseColour(backgroundColor), total),
      stops: stops.map((stop) => withOpacity(parseColour(stop), total)),
    };
    styles.set(node, style);
    return style;
  };

  /** A style sheet that enables pointer events behind dialogs, so that `elementsFromPoint` finds the elements there. */
  const pointerSheet = new CSSStyleSheet();
  pointerSheet.replaceSync("*, *::before, *::after { pointer-events: auto !important; }");
  document.adoptedStyleSheets.push(pointerSheet);

  /** The possible background colours of `node` at a point; a gradient gives several. */
  const backgrounds = (node, x, y, own) => {
    // An element with pseudo-elements appears twice: in front of its content and behind it. Keep the entry behind.
    const stack = document.elementsFromPoint(x, y).filter((each, at, elements) => elements.lastIndexOf(each) === at);
    const at = stack.indexOf(node);
    if (at < 0) return null;
    // If something opaque is in front of the node, the node is not visible at this point.
    const isOpaqueAbove = (each) => !node.contains(each) && styleOf(each).solid;
    if (stack.slice(0, at).some(isOpaqueAbove)) return null;
    let found = [[1, 1, 1, 1]];
    for (const each of stack.slice(own ? at : at + 1).reverse()) {
      const { fill, stops } = styleOf(each);
      if (fill[3] > 0) found = found.map((back) => blend(fill, back));
      if (stops.length > 0) found = found.flatMap((back) => stops.map((stop) => blend(stop, back)));
    }
    return found;
  };
  /**
   * The lowest contrast that a colour has at these points of a node, or null if the node is visible at none of them.
   */
  const lowestRatio = (node, colour, points, own = true) => {
    const front = withOpacity(parseColour(colour), styleOf(node).opacity);
    const ratios = points
      .filter(([x, y]) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight)
      .flatMap(([x, y]) => (backgrounds(node, x, y, own) ?? []).map((back) => ratio(blend(front, back), back)));
    return ratios.length > 0 ? Math.min(...ratios) : null;
  };
  const placeOf = (node) => {
    const parts = [];
    for (let each = node; each && each !== document.body && parts.length < 3; each = each.parentElement) {
      const classes = [...each.classList].filter((name) => !/^(svelte-|lucide)/.test(name)).join(".");
      parts.unshift(each.localName + (each.dataset.testid ? "#" + each.dataset.testid : classes && "." + classes));
    }
    return parts.join(" > ");
  };
  const found = new Set();
  let checked = 0;
  const check = (kind, least, value, what, node) => {
    if (value === null) return;
    checked += 1;
    if (value < least - 0.005) found.add(`${kind} ${value.toFixed(2)}: ${what} in ${placeOf(node)}`);
  };
  const samplePoints = ({ left, top, width, height }) => [
    [left + width / 2, top + height / 2],
    [left + Math.min(3, width / 4), top + height / 2],
  ];
  const isShown = (node) =>
    node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    !node.closest(`${DISABLED_SELECTOR}, ${UNCHECKED_SELECTOR}`);
  const quote = (text) => JSON.stringify(text.trim().slice(0, 40));

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest("script, style, textarea, .visually-hidden, .redaction")) continue;
    if (!isShown(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1).slice(0, 4);
    const svg = parent instanceof SVGElement;
    const colour = getComputedStyle(parent)[svg ? "fill" : "color"];
    check("text", MIN_TEXT_RATIO, lowestRatio(parent, colour, rects.flatMap(samplePoints)), quote(node.data), parent);
  }
  for (const node of document.querySelectorAll("body *")) {
    if (!isShown(node)) continue;
    const points = samplePoints(node.getBoundingClientRect());
    for (const pseudo of ["::before", "::after"]) {
      const { content, color } = getComputedStyle(node, pseudo);
      if (/^"[^"]*\p{L}/u.test(content))
        check("text", MIN_TEXT_RATIO, lowestRatio(node, color, points), `${content} ${pseudo}`, node);
    }
  }
  for (const field of document.querySelectorAll("input:not([type=checkbox], [type=radio]), textarea")) {
    if (!isShown(field)) continue;
    const points = samplePoints(field.getBoundingClientRect());
    if (field.value)
      check("text", MIN_TEXT_RATIO, lowestRatio(field, getComputedStyle(field).color, points), "what is typed", field);
    if (field.placeholder) {
      const { color, opacity } = getComputedStyle(field, "::placeholder");
      const [r, g, b, a] = parseColour(color).map((part) => part * 255);
      const placeholderColour = `rgb(${r} ${g} ${b} / ${(a / 255) * Number(opacity)})`;
      check(
        "text",
        MIN_TEXT_RATIO,
        lowestRatio(field, placeholderColour, points),
        `placeholder ${quote(field.placeholder)}`,
        field,
      );
    }
  }

  for (const shape of document.querySelectorAll("svg :is(path, rect, circle, line, polyline, polygon, ellipse)")) {
    if (!isShown(shape)) continue;
    const svg = shape.closest("svg");
    const { stroke, fill } = getComputedStyle(shape);
    const colour = parseColour(stroke)[3] > 0 && stroke !== "none" ? stroke : fill;
    if (colour === "none" || parseColour(colour)[3] === 0) continue;
    const box = shape.getBoundingClientRect();
    if (box.width < 1 && box.height < 1) continue;
    // The track of a progress bar is a background, the bar a graphic.
    check(
      "graphic",
      MIN_GRAPHIC_RATIO,
      lowestRatio(svg, colour, [samplePoints(svg.getBoundingClientRect())[0], samplePoints(box)[0]]),
      "icon",
      svg,
    );
  }
  // Controls that people recognise by their border. Radio buttons are left out, because they look like cards or
  // segments, which people recognise by their text. The field of the palette is left out too, because it has no border
  // of its own.
  const CONTROL_SELECTOR =
    "input:not([data-testid=palette-field]), textarea, [role=checkbox], [role=switch], [role=combobox]:not([data-testid=palette-field])";
  for (const control of document.querySelectorAll(CONTROL_SELECTOR)) {
    if (!isShown(control) || control.closest(".visually-hidden, [aria-hidden=true]")) continue;
    let borderNode = control;
    const isInvisible = (node) => {
      const style = getComputedStyle(node);
      return parseFloat(style.borderBottomWidth) === 0 && parseColour(style.backgroundColor)[3] === 0;
    };
    for (let up = 0; up < 3 && isInvisible(borderNode); up += 1) borderNode = borderNode.parentElement;
    if (borderNode.matches("[role=dialog], main, nav")) borderNode = control;
    const style = getComputedStyle(borderNode);
    const rect = borderNode.getBoundingClientRect();
    const points = [[rect.left + rect.width / 2, rect.top + rect.height / 2]];
    const line =
      parseFloat(style.borderBottomWidth) > 0 ? lowestRatio(borderNode, style.borderBottomColor, points, false) : null;
    const fill =
      parseColour(style.backgroundColor)[3] > 0 ? lowestRatio(borderNode, style.backgroundColor, points, false) : null;
    if (line === null && fill === null && lowestRatio(borderNode, style.color, points) === null) continue;
    check(
      "border",
      MIN_GRAPHIC_RATIO,
      Math.max(line ?? 0, fill ?? 0),
      control.getAttribute("role") ?? control.localName,
      borderNode,
    );
  }
  for (const bar of document.querySelectorAll(".redaction")) {
    if (!isShown(bar)) continue;
    const points = [...bar.getClientRects()].flatMap(samplePoints);
    check(
      "graphic",
      MIN_GRAPHIC_RATIO,
      lowestRatio(bar, getComputedStyle(bar).backgroundColor, points, false),
      "redaction bar",
      bar,
    );
  }

  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== pointerSheet);
  return { found: [...found], checked };
}

/**
 * Applies hover styles to all elements, by replacing `:hover` with a selector that matches everything. That selector
 * has the same specificity as `:hover`, so the cascade stays the same.
 */
export function applyHoverStyles() {
  const readRules = (rules) => {
    for (const rule of rules) {
      if (rule.selectorText?.includes(":hover"))
        rule.selectorText = rule.selectorText.replaceAll(":hover", ":not(.nowhere)");
      if (rule.cssRules) readRules(rule.cssRules);
    }
  };
  for (const sheet of document.styleSheets) readRules(sheet.cssRules);
}
