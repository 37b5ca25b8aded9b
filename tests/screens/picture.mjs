// Pictures as they are kept and compared. The packages it needs are there only once the tests have been set up.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

/** How far a colour may be from the kept one, of 1. Softened edges do not count. */
const COLOUR = 0.05;

/** Five bits of each colour make a picture less than half as large; what is lost is less than `COLOUR`. */
const BITS = 0xf8;
/** Flat colours are smallest so. */
const PACKED = { colorType: 2, filterType: 0, deflateLevel: 9, deflateStrategy: 0 };

export function decoded(base64) {
  const picture = PNG.sync.read(Buffer.from(base64, "base64"));
  picture.data.forEach((value, at) => (picture.data[at] = at % 4 === 3 ? 255 : value & BITS));
  return picture;
}
export const keep = (path, picture) => writeFileSync(path, PNG.sync.write(picture, PACKED));
export const kept = (path) => (existsSync(path) ? PNG.sync.read(readFileSync(path)) : null);

/** How many points are not as they were, and a picture with those marked. */
export function compared(ours, theirs) {
  const { width, height } = theirs;
  const difference = new PNG({ width, height });
  if (ours.width !== width || ours.height !== height) return { points: Infinity, difference };
  const points = pixelmatch(ours.data, theirs.data, difference.data, width, height, { threshold: COLOUR });
  return { points, difference };
}
