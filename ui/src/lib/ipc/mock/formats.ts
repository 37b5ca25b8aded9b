import type { FormatInfo } from "../backend";
import { FORMATS } from "../formats";

/** The formats that the backend supports, in its order. */
export const sampleFormats = (): FormatInfo[] =>
  FORMATS.map(({ id, name, read, write, signs, encrypts }) => ({ id, name, read, write, signs, encrypts }));
