import {
  backend,
  type DetectedExport,
  type OwnImport,
  type Progress,
  type Watched,
  type WatchedFolder,
  type WatchMode,
} from "$lib/ipc";
import { assistantStyle } from "$lib/logic/assistants";
import { oneLine } from "$lib/logic/untrusted-text";
import { t } from "$lib/text";
import { fileName, folderName } from "$lib/text/format";
import { dialogs } from "./dialogs.svelte";
import { importing } from "./importing.svelte";
import { nav } from "./nav.svelte";
import { onLock, lockGuard } from "./lock-cleanup";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { vault } from "./vault.svelte";

/** Watched folders and the detected files that wait for a decision. */
class Watching {
  /** The watched folders; null until loaded. */
  folders = $state.raw<WatchedFolder[] | null>(null);
  detectedFiles = $state.raw<DetectedExport[]>([]);
  /** Id of the file that is imported automatically now. */
  importing = $state<string | null>(null);
  progress = $state.raw<Progress | null>(null);
  readonly running = $derived(this.detectedFiles.find((file) => file.id === this.importing) ?? null);
  /** Progress of the current stage from 0 to 1; null while unknown. */
  readonly share = $derived(
    (this.progress?.total ?? 0) > 0 ? Math.min(1, (this.progress?.done ?? 0) / (this.progress?.total ?? 1)) : null,
  );
  /** Detected files and imports that were already announced. */
  #announced = new Set<string>();
  #run = 0;

  /**
   * Loads the watched folders and detected files. Errors are not shown, because loading runs in the background and is
   * repeated at each event.
   */
  async load(): Promise<void> {
    await this.#apply(backend().watched()).catch((error: unknown) => session.handleLocked(error));
  }

  /**
   * Handles progress of an automatic import. The event does not name the file, so the first event loads the state,
   * which names it.
   */
  onProgress(progress: Progress): void {
    if (this.importing === null && this.progress === null) void this.load();
    this.progress = progress;
  }

  /** Cancels the automatic import, which is rolled back. The file then waits for a decision. */
  stop(file: DetectedExport): Promise<void> {
    return backend().cancelJob(file.id);
  }

  async add(): Promise<void> {
    const path = await backend().chooseFolder();
    if (path !== null) await this.#apply(backend().watchFolder(path));
  }

  setMode(folder: WatchedFolder, mode: WatchMode): Promise<void> {
    return this.#apply(backend().setWatching(folder.id, mode));
  }

  /** Stops watching a folder. Undo watches it again, but only for files that arrive after that. */
  async remove({ id, path, mode }: WatchedFolder): Promise<void> {
    const isUnlocked = lockGuard();
    await this.#apply(backend().unwatchFolder(id));
    if (!isUnlocked()) return;
    toasts.showWithUndo(t("folders.removed", { name: oneLine(fileName(path)) }), t("action.undo"), async () => {
      await this.#apply(backend().watchFolder(path));
      const addedAgain = this.folders?.find((folder) => folder.path === path);
      if (addedAgain && mode !== "ask") await this.setMode(addedAgain, mode);
    });
  }

  dismiss(file: DetectedExport): Promise<void> {
    return this.#apply(backend().dismissDetectedFile(file.id));
  }

  /**
   * Opens the import sheet with a detected file, unless another sheet is open. If an import is running, the import
   * sheet shows that import instead.
   */
  import(file: DetectedExport): void {
    const { open } = dialogs;
    if (open !== null && open.kind !== "import") return;
    dialogs.show({ kind: "import" });
    if (!importing.busy) void importing.inspect([file.path]);
  }

  /**
   * Opens the import sheet if exactly one file is waiting and it is not being imported. Otherwise opens the list of
   * files in the settings.
   */
  show(): void {
    const [file, more] = this.detectedFiles;
    if (file && !more && file !== this.running) return this.import(file);
    this.openList();
  }

  openList(): void {
    nav.settingsPage = "folders";
    nav.go("settings");
  }

  async #apply(request: Promise<Watched>): Promise<void> {
    const run = ++this.#run;
    const isUnlocked = lockGuard();
    const found = await request;
    if (!isUnlocked() || run !== this.#run) return;
    this.folders = found.folders;
    this.detectedFiles = found.detected_files;
    this.importing = found.importing;
    if (found.importing === null) this.progress = null;
    const newImports = this.#unannounced(found.imported, ({ batch }) => batch);
    const newFiles = this.#unannounced(
      found.detected_files.filter((file) => file.fresh),
      ({ id, at }) => `${id} ${at}`,
    );
    if (newImports.length > 0) this.#reportImports(newImports);
    else if (newFiles.length > 0) this.#offer(newFiles);
  }

  /** Returns the elements of `all` that were not announced yet, and marks them as announced. */
  #unannounced<T>(all: T[], keyOf: (each: T) => string): T[] {
    const unannounced = all.filter((each) => !this.#announced.has(keyOf(each)));
    for (const each of unannounced) this.#announced.add(keyOf(each));
    return unannounced;
  }

  #reportImports(newImports: OwnImport[]): void {
    const lastImport = newImports.at(-1);
    vault.changed();
    if (!lastImport) return;
    const { batch, name, added, updated } = lastImport;
    const show = () => dialogs.open === null && dialogs.show({ kind: "report", batch });
    toasts.show(t("detectedFiles.imported", { name: oneLine(name), added, updated }), {
      icon: "import",
      action: { label: t("detectedFiles.report"), undo: false, run: () => void show() },
    });
  }

  /**
   * Announces new files with a toast, but not while a sheet is open or an import is running. Without a toast the files
   * are still in the list.
   */
  #offer(fresh: DetectedExport[]): void {
    const [file, more] = fresh;
    if (!file || dialogs.open !== null || importing.busy) return;
    const text = more
      ? t("detectedFiles.many", { n: fresh.length })
      : t("detectedFiles.toast", {
          name: oneLine(file.name),
          folder: oneLine(fileName(folderName(file.path))),
          format: file.format === null ? t("detectedFiles.sealed") : assistantStyle(file.format).name,
        });
    const run = () => (more ? this.show() : this.import(file));
    const label = more ? t("detectedFiles.show") : t("detectedFiles.import");
    toasts.show(text, { icon: "import", action: { label, undo: false, run } });
  }

  clear(): void {
    this.#run += 1;
    this.folders = null;
    this.detectedFiles = [];
    this.importing = null;
    this.progress = null;
    this.#announced.clear();
  }
}

export const watching = new Watching();
onLock(() => watching.clear());
