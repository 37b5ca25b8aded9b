import type { ExportFormat } from "$lib/state/formats";
import type { SourceId } from "$lib/text/locale.svelte";
import type { AiClient, Exported, FailedImport, Filter, FoundRow, Receipt, SensitiveItem } from "$lib/ipc";
import type { Section } from "./nav.svelte";
import { onLock } from "./lock-cleanup";

/** The initial format of the export sheet. */
export type StartFormat = ExportFormat;

/** A question that the person answers with yes or no. `danger`: whether yes deletes something. */
export type Question = { title: string; text: string; action: string; danger?: boolean };

/** The open dialog. Only one at a time; the shell renders it. */
export type OpenDialog =
  | { kind: "import" }
  | { kind: "report"; batch: string }
  | { kind: "failed-import"; failed: FailedImport; at: string }
  /** `last`: the settings of an earlier export, with which the sheet begins. */
  | {
      kind: "export";
      filter: Filter | null;
      query: string;
      found: number | null;
      format: StartFormat;
      last?: { folder: string | null; sign: boolean; encrypt: boolean };
    }
  | { kind: "exported"; done: Exported }
  | { kind: "redact"; id: string; text: string; span: { start: number; end: number } | null }
  | { kind: "erase"; ids: string[] }
  | { kind: "receipt"; receipt: Receipt; title: string }
  | { kind: "redact-value"; item: SensitiveItem; ids: string[] | null; n: number }
  | { kind: "redact-kinds"; ids: string[] | null }
  | { kind: "duplicates" }
  | { kind: "evidence" }
  | { kind: "write" }
  /** `clipboard`: whether the text of the clipboard is filled in. */
  | { kind: "paste"; clipboard?: boolean }
  /** `back` is the dialog that opens again if the person declines. */
  | { kind: "confirm"; question: Question; answer: (agreed: boolean) => void; back: OpenDialog | undefined }
  /** `back` is the dialog that opens again when this one is closed. */
  | { kind: "link"; url: URL; back?: OpenDialog }
  /**
   * `source` is the source whose guide is shown first. `back` is the dialog that opens again when this one is closed.
   */
  | { kind: "guides"; source?: SourceId | null; back?: OpenDialog }
  | { kind: "file"; row: FoundRow }
  | { kind: "connect"; client: AiClient }
  | { kind: "disconnect"; client: AiClient }
  | { kind: "passphrase" }
  | { kind: "recovery" }
  | { kind: "formats" }
  | { kind: "limits" }
  | { kind: "licences" }
  | { kind: "shortcuts" }
  /** `instead`: the section in which the person wanted to search, although it has no search. */
  | { kind: "palette"; instead?: Section };

class Dialogs {
  open = $state.raw<OpenDialog | null>(null);

  show(open: OpenDialog): void {
    this.open = open;
  }

  /** Asks the person a question. Resolves to false if they decline or the vault locks. */
  ask(question: Question): Promise<boolean> {
    const back = this.open ?? undefined;
    return new Promise((answer) => this.show({ kind: "confirm", question, answer, back }));
  }

  close(): void {
    this.open = null;
  }

  /** Closes the open dialog. If it was opened from another dialog (`back`), that one is opened again. */
  leave(back: OpenDialog | undefined): void {
    this.open = back ?? null;
  }
}

export const dialogs = new Dialogs();
onLock(() => dialogs.close());
