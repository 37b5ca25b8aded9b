// Writes Mementory's icon in every size and format that a system asks for. The icons of file types are drawn when a
// package is made.
// Run by hand after a change: node src-tauri/icons/draw.mjs
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SIZES, png } from "./drawing.mjs";

/** Windows: a directory of PNGs. */
function ico(sizes) {
  const images = sizes.map((size) => png(size));
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
for (const size of SIZES) save(`${size}x${size}.png`, png(size));
save("icon.png", png(512));
save("icon.ico", ico([16, 32, 48, 256]));
save("icon.icns", icns({ ic07: 128, ic08: 256, ic09: 512 }));
