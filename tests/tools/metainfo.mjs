// AppStream metadata with the screenshots and links of a published package. Software centres load screenshots from the
// web, so they need addresses, which only the person who publishes the package knows.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, WORKSPACE } from "./places.mjs";
import { Stop } from "./sh.mjs";

export const METAINFO = join(WORKSPACE, "packaging", "app.mementory.desktop.metainfo.xml");
const PICTURES = join(WORKSPACE, "packaging", "pictures.json");
/** Folder of README's pictures, in the repository. */
export const PICTURE_FOLDER = join(ROOT, "ui", "pictures");

export const pictures = () => JSON.parse(readFileSync(PICTURES, "utf8"));
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * Returns the metadata. With the address of a homepage, they contain links and the screenshots, which are in
 * `pictures/` below that address. They may also contain the address at which faults are reported.
 *
 * @throws {Stop} if an address is not an https URL.
 */
export function metainfo(homepage, bugtracker) {
  const text = readFileSync(METAINFO, "utf8");
  if (!homepage) return text;
  const addresses = Object.entries({ homepage, bugtracker }).filter(([, address]) => address);
  for (const [type, address] of addresses)
    if (!/^https:\/\/[^\s<>"&]+$/.test(address)) throw new Stop(`${address} is no https address for ${type}.`);
  const links = addresses.map(([type, address]) => `  <url type="${type}">${address}</url>`);
  const pictureFolderUrl = `${homepage.replace(/\/$/, "")}/pictures`;
  const screenshots = pictures().map(({ file, caption }, index) => {
    const captions = Object.entries(caption).map(
      ([language, words]) =>
        `      <caption${language === "en" ? "" : ` xml:lang="${language}"`}>${escaped(words)}</caption>`,
    );
    const lines = [...captions, `      <image type="source">${pictureFolderUrl}/${file}</image>`];
    return `    <screenshot${index === 0 ? ' type="default"' : ""}>\n${lines.join("\n")}\n    </screenshot>`;
  });
  const addedLines = [...links, "  <screenshots>", ...screenshots, "  </screenshots>"].join("\n");
  return text.replace(/<!-- Screenshots[\s\S]*?-->\n/, "").replace(/^(?= {2}<releases>)/m, () => `${addedLines}\n`);
}
