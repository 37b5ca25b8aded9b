import { backend, type Find, type OwnImport, type Watched, type WatchedFolder, type WatchMode } from "$lib/ipc";
import { look } from "$lib/logic/assistants";
import { oneLine } from "$lib/logic/foreign";
import { t } from "$lib/text";
import { fileName, folderName } from "$lib/text/format";
import { dialogs } from "./dialogs.svelte";
import { importing } from "./importing.svelte";
import { nav } from "./nav.svelte";
import { onLock, sinceLock } from "./scope";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { vault } from "./vault.svelte";

/** Watched folders, and what was found in them and waits for an answer. */
class Watching {
  /** Null: not read yet. */
  folders = $state.raw<WatchedFolder[] | null>(null);
  finds = $state.raw<Find[]>([]);
  /** Finds and imports that were told of already. */
  #told = new Set<string>();
  #run = 0;

  /** Nobody asked for it, so a refusal is not shown: the next event reads again. */
  async load(): Promise<void> {
    await this.#take(backend().watched()).catch((error: unknown) => session.refused(error));
  }

  async add(): Promise<void> {
    const path = await backend().chooseFolder();
    if (path !== null) await this.#take(backend().watchFolder(path));
  }

  setMode(folder: WatchedFolder, mode: WatchMode): Promise<void> {
    return this.#take(backend().setWatching(folder.id, mode));
  }

  /** Reversible: watched again, it is looked at from then on. */
  async remove({ id, path, mode }: WatchedFolder): Promise<void> {
    const open = sinceLock();
    await this.#take(backend().unwatchFolder(id));
    if (!open()) return;
    toasts.undoable(t("folders.removed", { name: oneLine(fileName(path)) }), t("action.undo"), async () => {
      await this.#take(backend().watchFolder(path));
      const again = this.folders?.find((folder) => folder.path === path);
      if (again && mode !== "ask") await this.setMode(again, mode);
    });
  }

  dismiss(find: Find): Promise<void> {
    return this.#take(backend().dismissFind(find.id));
  }

  /** The sheet that shows what it would do. One that is open is not taken away, nor is an import that runs. */
  import(find: Find): void {
    const { open } = dialogs;
    if (open !== null && open.kind !== "import") return;
    dialogs.show({ kind: "import" });
    if (!importing.busy) void importing.look([find.path]);
  }

  /** What waits: the one file, or the list. */
  show(): void {
    const [find, more] = this.finds;
    if (find && !more) return this.import(find);
    nav.settingsPage = "folders";
    nav.go("settings");
  }

  async #take(asked: Promise<Watched>): Promise<void> {
    const run = ++this.#run;
    const open = sinceLock();
    const found = await asked;
    if (!open() || run !== this.#run) return;
    this.folders = found.folders;
    this.finds = found.finds;
    const came = this.#news(found.imported, ({ batch }) => batch);
    const fresh = this.#news(
      found.finds.filter((find) => find.fresh),
      ({ id, at }) => `${id} ${at}`,
    );
    if (came.length > 0) this.#imported(came);
    else if (fresh.length > 0) this.#offer(fresh);
  }

  #news<T>(all: T[], nameOf: (each: T) => string): T[] {
    const news = all.filter((each) => !this.#told.has(nameOf(each)));
    for (const each of news) this.#told.add(nameOf(each));
    return news;
  }

  #imported(came: OwnImport[]): void {
    const last = came.at(-1);
    vault.changed();
    if (!last) return;
    const { batch, name, added, updated } = last;
    const show = () => dialogs.open === null && dialogs.show({ kind: "report", batch });
    toasts.show(t("finds.imported", { name: oneLine(name), added, updated }), {
      icon: "import",
      action: { label: t("finds.report"), undo: false, run: () => void show() },
    });
  }

  /** Quietly: never over something that the person is in the middle of. It stays in the list. */
  #offer(fresh: Find[]): void {
    const [find, more] = fresh;
    if (!find || dialogs.open !== null || importing.busy) return;
    const text = more
      ? t("finds.many", { n: fresh.length })
      : t("finds.toast", {
          name: oneLine(find.name),
          folder: oneLine(fileName(folderName(find.path))),
          format: find.format === null ? t("finds.sealed") : look(find.format).name,
        });
    const run = () => (more ? this.show() : this.import(find));
    const label = more ? t("finds.show") : t("finds.import");
    toasts.show(text, { icon: "import", action: { label, undo: false, run } });
  }

  clear(): void {
    this.#run += 1;
    this.folders = null;
    this.finds = [];
    this.#told.clear();
  }
}

export const watching = new Watching();
onLock(() => watching.clear());
