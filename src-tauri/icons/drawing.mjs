// Draws Mementory's icon (a lidded box with a keyhole on ink blue) and those of its file types as PNG, in any size.
import { crc32, deflateSync } from "node:zlib";

const INK = [29, 95, 126];
const PAPER = [250, 248, 243];
const EDGE = [150, 160, 166];
/** The sizes that desktops ask for. */
export const SIZES = [16, 24, 32, 48, 64, 128, 256];

/** Signed distance to a rounded box; negative inside. Everything is in a unit square. */
function roundedBox(x, y, centreX, centreY, halfWidth, halfHeight, radius) {
  const dx = Math.abs(x - centreX) - halfWidth + radius;
  const dy = Math.abs(y - centreY) - halfHeight + radius;
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius;
}

const circle = (x, y, centreX, centreY, radius) => Math.hypot(x - centreX, y - centreY) - radius;

/** Signed distance to a convex polygon, whose corners are given clockwise. Beyond a corner it is too small. */
function polygon(x, y, corners) {
  const distances = corners.map(([fromX, fromY], index) => {
    const [toX, toY] = corners[(index + 1) % corners.length];
    return ((x - fromX) * (fromY - toY) + (y - fromY) * (toX - fromX)) / -Math.hypot(toX - fromX, toY - fromY);
  });
  return Math.max(...distances);
}

/** The lidded box with its keyhole: `scale` 1 and the centre in the middle are those of the icon. */
function box(colour, hole, scale = 1, centreX = 0.5, centreY = 0.5) {
  const at = (distance) => (x, y) => distance((x - centreX) / scale + 0.5, (y - centreY) / scale + 0.5) * scale;
  const keyhole = (x, y) => Math.min(circle(x, y, 0.5, 0.55, 0.055), roundedBox(x, y, 0.5, 0.63, 0.022, 0.075, 0.02));
  return [
    { colour, distance: at((x, y) => roundedBox(x, y, 0.5, 0.6, 0.28, 0.2, 0.045)) },
    { colour, distance: at((x, y) => roundedBox(x, y, 0.5, 0.3, 0.32, 0.07, 0.045)) },
    { colour: hole, distance: at(keyhole) },
  ];
}

/** The icon's shapes from back to front. */
export const ICON = [
  { colour: INK, distance: (x, y) => roundedBox(x, y, 0.5, 0.5, 0.47, 0.47, 0.21) },
  ...box(PAPER, INK),
];

/** A sheet of paper, on which the mark of a file type is drawn. */
const SHEET = [
  { colour: EDGE, distance: (x, y) => roundedBox(x, y, 0.5, 0.5, 0.37, 0.47, 0.06) },
  { colour: PAPER, distance: (x, y) => roundedBox(x, y, 0.5, 0.5, 0.345, 0.445, 0.04) },
];
const ink = (distance) => ({ colour: INK, distance });
/** An agent: a head and shoulders. */
const AGENT = [
  ink((x, y) => circle(x, y, 0.5, 0.36, 0.13)),
  ink((x, y) => Math.max(circle(x, y, 0.5, 0.78, 0.24), y - 0.76)),
];
const PADLOCK = [
  ink((x, y) => Math.max(Math.abs(circle(x, y, 0.5, 0.4, 0.125)) - 0.035, y - 0.46)),
  ink((x, y) => Math.min(roundedBox(x, y, 0.36, 0.44, 0.018, 0.05, 0), roundedBox(x, y, 0.64, 0.44, 0.018, 0.05, 0))),
  ink((x, y) => roundedBox(x, y, 0.5, 0.6, 0.21, 0.16, 0.04)),
];
/** A bar of a brace, in which the document of an interchange format is written. */
const brace = (side) => {
  const at = (x) => 0.5 + side * x;
  return [
    ink((x, y) => roundedBox(x, y, at(0.19), 0.5, 0.03, 0.2, 0.03)),
    ink((x, y) => roundedBox(x, y, at(0.15), 0.31, 0.06, 0.03, 0.03)),
    ink((x, y) => roundedBox(x, y, at(0.15), 0.69, 0.06, 0.03, 0.03)),
    ink((x, y) => roundedBox(x, y, at(0.23), 0.5, 0.04, 0.03, 0.03)),
  ];
};
const DELTA = [
  ink((x, y) =>
    polygon(x, y, [
      [0.5, 0.22],
      [0.76, 0.74],
      [0.24, 0.74],
    ]),
  ),
  {
    colour: PAPER,
    distance: (x, y) =>
      polygon(x, y, [
        [0.5, 0.4],
        [0.65, 0.68],
        [0.35, 0.68],
      ]),
  },
];

/** Shapes of the icons of our file types, by the name that the file of types gives them. */
export const TYPE_ICONS = {
  "app.mementory.desktop-vault": box(INK, PAPER, 1.3, 0.5, 0.48),
  "app.mementory.desktop-mem": [...SHEET, ...box(INK, PAPER, 0.75, 0.5, 0.5)],
  "app.mementory.desktop-alf": [...SHEET, ...AGENT],
  "app.mementory.desktop-alf-delta": [...SHEET, ...DELTA],
  "app.mementory.desktop-mif": [...SHEET, ...brace(-1), ...brace(1), ink((x, y) => circle(x, y, 0.5, 0.5, 0.055))],
  "app.mementory.desktop-encrypted": [...SHEET, ...PADLOCK],
};

function pixels(size, shapes) {
  const rgba = Buffer.alloc(size * size * 4);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      let [red, green, blue, alpha] = [0, 0, 0, 0];
      for (const { colour, distance } of shapes) {
        const cover = Math.min(1, Math.max(0, 0.5 - distance((column + 0.5) / size, (row + 0.5) / size) * size));
        const total = cover + alpha * (1 - cover);
        if (total === 0) continue;
        [red, green, blue] = [red, green, blue].map(
          (old, i) => (colour[i] * cover + old * alpha * (1 - cover)) / total,
        );
        alpha = total;
      }
      rgba.set([red, green, blue, alpha * 255].map(Math.round), (row * size + column) * 4);
    }
  }
  return rgba;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** A picture of `shapes` with `size` pixels in each direction. */
export function png(size, shapes = ICON) {
  const rgba = pixels(size, shapes);
  const rows = Buffer.alloc(size * (size * 4 + 1));
  for (let row = 0; row < size; row++) rgba.copy(rows, row * (size * 4 + 1) + 1, row * size * 4, (row + 1) * size * 4);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
