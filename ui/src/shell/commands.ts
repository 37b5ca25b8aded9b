import { openSection } from "$features/memories/kinds";
import { appearance } from "$lib/state/appearance.svelte";
import { TEXT_FORMAT } from "$lib/state/formats";
import { dialogs } from "$lib/state/dialogs.svelte";
import { showExport } from "$lib/state/open-export";
import { importing } from "$lib/state/importing.svelte";
import { nav } from "$lib/state/nav.svelte";
import { printing } from "$lib/state/printing.svelte";
import { showError } from "$lib/state/trash-actions";
import { search } from "$lib/state/search-field.svelte";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { cyclePane } from "./panes";
import type { Command } from "./keymap";

/**
 * Whether a command may run. While a dialog is open, only Undo in the dialog of duplicates may run. Not called for
 * locking and the text size, which always work, nor for the palette, which has its own rule.
 */
export function isAvailable(command: Command): boolean {
  return !dialogs.open || (command === "undo" && dialogs.open.kind === "duplicates");
}

/** Runs a command, unless an open dialog forbids it. */
export function run(command: Command): void {
  if (command === "lock") {
    void session.lock().catch(showError);
    return;
  }
  if (command === "palette") {
    if (dialogs.open?.kind === "palette") dialogs.close();
    else if (!dialogs.open) dialogs.show({ kind: "palette" });
    return;
  }
  if (command === "larger-text" || command === "smaller-text" || command === "normal-text") {
    appearance.stepTextSize(command === "normal-text" ? 0 : command === "larger-text" ? 1 : -1);
    return;
  }
  if (!isAvailable(command)) return;
  if (typeof command === "object") {
    openSection(command.go);
    return;
  }
  switch (command) {
    case "search":
      // In a section without search, the palette opens instead and says why.
      if (!search.searchInPane() && !search.focus()) dialogs.show({ kind: "palette", instead: nav.section });
      break;
    case "import":
      openImport();
      break;
    case "export":
      showExport("screen");
      break;
    case "export-all":
      showExport("all");
      break;
    case "export-text":
      showExport("screen", null, TEXT_FORMAT);
      break;
    case "print":
      if (printing.shown) void printing.print(printing.shown());
      break;
    case "shortcuts":
      dialogs.show({ kind: "shortcuts" });
      break;
    case "write":
      dialogs.show({ kind: "write" });
      break;
    case "paste":
      dialogs.show({ kind: "paste", clipboard: true });
      break;
    case "back":
      nav.back();
      break;
    case "forward":
      nav.forward();
      break;
    case "undo":
      void toasts.undo().catch(showError);
      break;
    case "next-pane":
      cyclePane(1);
      break;
    case "previous-pane":
      cyclePane(-1);
  }
}

/** Opens the import sheet. If an import is running, the sheet shows that import, otherwise it is empty. */
function openImport(): void {
  if (importing.busy) importing.background = false;
  else importing.reset();
  dialogs.show({ kind: "import" });
}
