import type { ListItem } from "../backend";
import { failWith } from "./jobs";

/**
 * The checks before the demonstration is opened or deleted. They throw the errors of the backend. `items` returns the
 * records of the open vault.
 */
export function sampleDemonstration(isUsable: boolean, items: () => ListItem[]) {
  const countWritten = () => items().filter((each) => each.source === "me").length;
  let writtenBefore = 0;
  return {
    checkOpening(remake: boolean): void {
      if (!isUsable && !remake) throw failWith("demonstration_unusable", "The demonstration can't be used.");
      isUsable = true;
      writtenBefore = countWritten();
    },
    checkDeleting(withOwnContent: boolean): void {
      const writtenCount = countWritten() - writtenBefore;
      const details = { imports: "0", written: String(writtenCount), edited: "0" };
      if (writtenCount > 0 && !withOwnContent) throw failWith("own_content", "It contains what you added.", details);
    },
  };
}
