// Draws Mementory's icon (a lidded box with a keyhole on ink blue) in every size a system asks for.
// Run by hand after a change: node src-tauri/icons/draw.mjs
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { crc32, deflateSync } from "node:zlib";

const INK = [29, 95, 126];
const PAPER = [250, 248, 243];

/** Signed distance to a rounded box; negative inside. Everything is in a unit square. */
function roundedBox(x, y, centreX, centreY, halfWidth, halfHeight, radius) {
  const dx = Math.abs(x - centreX) - halfWidth + radius;
  const dy = Math.abs(y - centreY) - halfHeight + radius;
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius;
}

const circle = (x, y, centreX, centreY, radius) => Math.hypot(x - centreX, y - centreY) - radius;

/** Shapes from back to front. */
const SHAPES = [
  { colour: INK, distance: (x, y) => roundedBox(x, y, 0.5, 0.5, 0.47, 0.47, 0.21) },
  { colour: PAPER, distance: (x, y) => roundedBox(x, y, 0.5, 0.6, 0.28, 0.2, 0.045) },
  { colour: PAPER, distance: (x, y) => roundedBox(x, y, 0.5, 0.3, 0.32, 0.07, 0.045) },
  {
    colour: INK,
    distance: (x, y) => Math.min(circle(x, y, 0.5, 0.55, 0.055), roundedBox(x, y, 0.5, 0.63, 0.022, 0.075, 0.02)),
  },
];

function pixels(size) {
  const rgba = Buffer.alloc(size * size * 4);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      let [red, green, blue, alpha] = [0, 0, 0, 0];
      for (const { colour, distance } of SHAPES) {
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

function png(size) {
  const rgba = pixels(size);
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

/** Windows: a directory of PNGs. */
function ico(sizes) {
  const images = sizes.map(png);
  const head = Buffer.alloc(6 + 16 * sizes.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(sizes.length, 4);
  let offset = head.length;
  images.forEach((image, i) => {
    const entry = 6 + 16 * i;
    head.set([sizes[i] % 256, sizes[i] % 256], entry);
    head.writeUInt16LE(1, entry + 4);
    head.writeUInt16LE(32, entry + 6);
    head.writeUInt32LE(image.length, entry + 8);
    head.writeUInt32LE(offset, entry + 12);
    offset += image.length;
  });
  return Buffer.concat([head, ...images]);
}

/** macOS: typed PNGs, one after the other. */
function icns(types) {
  const parts = Object.entries(types).map(([type, size]) => {
    const image = png(size);
    const head = Buffer.alloc(8);
    head.write(type, 0, "latin1");
    head.writeUInt32BE(image.length + 8, 4);
    return Buffer.concat([head, image]);
  });
  const head = Buffer.from("icns\0\0\0\0", "latin1");
  head.writeUInt32BE(
    parts.reduce((sum, part) => sum + part.length, 8),
    4,
  );
  return Buffer.concat([head, ...parts]);
}

const save = (name, bytes) => writeFileSync(fileURLToPath(new URL(name, import.meta.url)), bytes);
for (const size of [16, 24, 32, 48, 64, 128, 256]) save(`${size}x${size}.png`, png(size));
save("icon.png", png(512));
save("icon.ico", ico([16, 32, 48, 256]));
save("icon.icns", icns({ ic07: 128, ic08: 256, ic09: 512 }));
