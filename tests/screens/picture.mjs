// Stores and compares screenshots. The packages that it imports are not installed until the tests have been set up.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

/**
 * Two colours count as equal if they differ by at most this much, from 0 to 1. Anti-aliased edges always count as
 * equal.
 */
const COLOUR_THRESHOLD = 0.05;

/**
 * Keeps five bits per colour channel, which halves the file size. The colours then differ by less than
 * `COLOUR_THRESHOLD`.
 */
const COLOUR_MASK = 0xf8;
/** The settings that give the smallest files for flat colours. */
const PNG_OPTIONS = { colorType: 2, filterType: 0, deflateLevel: 9, deflateStrategy: 0 };

/** Decodes a screenshot, without its transparency and with five bits per colour channel. */
export function decodePicture(base64) {
  const picture = PNG.sync.read(Buffer.from(base64, "base64"));
  picture.data.forEach((value, at) => (picture.data[at] = at % 4 === 3 ? 255 : value & COLOUR_MASK));
  return picture;
}
export const writePicture = (path, picture) => writeFileSync(path, PNG.sync.write(picture, PNG_OPTIONS));
export const readPicture = (path) => (existsSync(path) ? PNG.sync.read(readFileSync(path)) : null);

/**
 * Compares two pictures. Returns {pixels, difference}: the number of different pixels (infinite if the sizes differ),
 * and a picture in which these pixels are marked.
 */
export function compare(actual, expected) {
  const { width, height } = expected;
  const difference = new PNG({ width, height });
  if (actual.width !== width || actual.height !== height) return { pixels: Infinity, difference };
  const pixels = pixelmatch(actual.data, expected.data, difference.data, width, height, {
    threshold: COLOUR_THRESHOLD,
  });
  return { pixels, difference };
}
