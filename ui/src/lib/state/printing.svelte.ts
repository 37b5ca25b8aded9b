import { backend, type PrintRequest } from "$lib/ipc";
import { clearPrintPage, setPrintPage } from "$lib/logic/print-page";
import { t } from "$lib/text";
import { fileName, longDay } from "$lib/text/format";
import { currentLocale } from "$lib/text/locale.svelte";
import type { MenuEntry } from "$lib/ui/types";
import FileText from "@lucide/svelte/icons/file-text";
import Printer from "@lucide/svelte/icons/printer";
import { JobProgress } from "./job.svelte";
import { lockGuard, onLock } from "./lock-cleanup";
import { toasts } from "./toasts.svelte";
import { showError } from "./trash-actions";

/**
 * A page that can be printed or saved as HTML. `name`: the suggested name of the file. `records`: the number of records
 * on it.
 */
export type Printable = { name: string; records: number; request: PrintRequest };

/** The largest number of records that are printed at once. More would block the window while it lays out the pages. */
export const MAX_PRINTED = 5_000;

/** Prints the pages that the core makes, or saves them as HTML files. */
class Printing {
  busy = $state(false);
  /** Describes what the screen shows, for the commands of the window. Null if it shows nothing that can be printed. */
  shown = $state.raw<(() => Printable) | null>(null);

  /** Offers the content of a screen to the commands of the window. Returns a function that withdraws the offer. */
  offer(describe: () => Printable): () => void {
    this.shown = describe;
    return () => {
      if (this.shown === describe) this.shown = null;
    };
  }

  async print({ records, request }: Printable): Promise<void> {
    if (records > MAX_PRINTED) {
      toasts.show(t("print.tooLong", { n: MAX_PRINTED }), { icon: "alert" });
      return;
    }
    await this.#run(async (job, isUnlocked) => {
      const html = await backend().printPage(job.id, request, job.listen);
      if (!isUnlocked()) return;
      setPrintPage(html);
      await backend().print();
    });
  }

  async save({ name, request }: Printable): Promise<void> {
    await this.#run(async (job, isUnlocked) => {
      const saved = await backend().savePage(job.id, name, request, job.listen);
      if (saved && isUnlocked()) toasts.show(t("saved", { name: fileName(saved.path) }), { icon: "check" });
    });
  }

  async #run(work: (job: JobProgress, isUnlocked: () => boolean) => Promise<void>): Promise<void> {
    if (this.busy) return;
    const isUnlocked = lockGuard();
    this.busy = true;
    try {
      await work(new JobProgress(), isUnlocked);
    } catch (error) {
      if (isUnlocked()) showError(error);
    } finally {
      this.busy = false;
    }
  }
}

export const printing = new Printing();
onLock(() => {
  printing.shown = null;
  clearPrintPage();
});

/** Prints the part of the window with the class `print-area`. */
export async function printArea(): Promise<void> {
  clearPrintPage();
  await backend().print();
}

/**
 * Returns the request for a page. `lead`: lines below the title, after which the date of printing is added. Empty lines
 * are left out.
 */
export function printRequest(
  title: string,
  lead: string[],
  content: Partial<Pick<PrintRequest, "list" | "conversation" | "tables">>,
): PrintRequest {
  const lines = [...lead, t("print.made", { date: longDay(new Date().toISOString()) })].filter(Boolean);
  const { language } = currentLocale();
  return { language, title, lead: lines, list: null, conversation: null, tables: [], ...content };
}

/** The menu entries that print a page or save it as HTML. */
export const printEntries = (describe: () => Printable): MenuEntry[] => [
  {
    label: t("print.print"),
    icon: Printer,
    disabled: printing.busy,
    testid: "menu-print",
    run: () => void printing.print(describe()),
  },
  {
    label: t("print.save"),
    icon: FileText,
    disabled: printing.busy,
    testid: "menu-save-html",
    run: () => void printing.save(describe()),
  },
];
