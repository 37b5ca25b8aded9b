// The checks that are our own, by the name under which `npm test` and `npm run lint` report them.
import { permissions, policy } from "./boundary.mjs";
import { directions } from "./crates.mjs";
import { placeholders, sizes, traces } from "./files.mjs";
import { licences } from "./licences.mjs";
import { logical } from "./styles.mjs";

export const CHECKS = {
  "crate direction": directions,
  "file sizes": sizes,
  "licences of what is in it": licences,
  "logical sides in styles": logical,
  placeholders,
  "traces of a machine": traces,
  "window permissions": permissions,
  "content security policy": policy,
};
