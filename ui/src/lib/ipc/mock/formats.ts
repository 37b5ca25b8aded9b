import type { FormatInfo } from "../backend";
import { FORMATS } from "../formats";

/** What the core reads, writes, signs and encrypts, in its order. */
export const sampleFormats = (): FormatInfo[] =>
  FORMATS.map(({ id, name, read, write, signs, encrypts }) => ({ id, name, read, write, signs, encrypts }));
