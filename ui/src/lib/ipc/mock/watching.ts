import type { Backend, DetectedExport, OwnImport, Progress, Watched, WatchedFolder } from "../backend";
import { ago } from "./data";
import { sampleDetection, failWith } from "./jobs";

type Commands = Pick<
  Backend,
  "watched" | "watchFolder" | "unwatchFolder" | "setWatching" | "dismissDetectedFile" | "onWatched" | "onWatchProgress"
>;
/** Events that a test or the console can trigger while the window is open. */
export type SampleWatching = {
  /** Simulates a new file in a watched folder. `fresh`: whether a toast announces the file. */
  addFile(path: string, fresh?: boolean): void;
  /** Simulates the progress of an automatic import. `share`: from 0 to 1. */
  reportImportProgress(path: string, share: number): void;
  /** Simulates the end of an automatic import. */
  finishImport(name: string): void;
};

const folder = (path: string, more: Partial<WatchedFolder> = {}): WatchedFolder => ({
  id: path,
  path,
  mode: "ask",
  state: "there",
  last_name: null,
  last_at: null,
  ...more,
});

/** Sample watched folders. `requireOpen` throws while the vault is locked. */
export function sampleWatched({ requireOpen, empty }: { requireOpen: () => void; empty: boolean }): {
  commands: Commands;
  sample: SampleWatching;
  imported: (paths: string[]) => void;
} {
  let folders = empty
    ? []
    : [
        folder("/home/ines/Downloads", { last_name: "chatgpt-export-2026-11-20.zip", last_at: ago(0) }),
        folder("/home/ines/tidebook/exports", { mode: "own", last_name: "claude-2026-11-14.zip", last_at: ago(7) }),
        folder("/media/backup/Claude projects", { mode: "paused", state: "missing" }),
      ];
  let detectedFiles: DetectedExport[] = [];
  const imported: OwnImport[] = [];
  let importing: string | null = null;
  let notify: () => void = () => undefined;
  let progress: (progress: Progress) => void = () => undefined;

  const watchedState = async (): Promise<Watched> => (
    requireOpen(),
    structuredClone({ folders, detected_files: detectedFiles, importing, imported })
  );
  const folderById = (id: string): WatchedFolder => {
    const found = folders.find((each) => each.id === id);
    if (!found) throw failWith("not_found", "This folder is not watched.");
    return found;
  };

  return {
    commands: {
      watched: watchedState,
      watchFolder: async (path) => {
        requireOpen();
        if (path.includes(".mementory")) throw failWith("inside_a_vault", `${path} is a vault.`, { place: path });
        if (!folders.some((each) => each.path === path)) folders = [...folders, folder(path)];
        return watchedState();
      },
      unwatchFolder: async (id) => {
        folderById(id);
        folders = folders.filter((each) => each.id !== id);
        detectedFiles = detectedFiles.filter((each) => each.folder !== id);
        return watchedState();
      },
      setWatching: async (id, mode) => {
        folderById(id).mode = mode;
        return watchedState();
      },
      dismissDetectedFile: async (id) => {
        detectedFiles = detectedFiles.filter((each) => each.id !== id);
        return watchedState();
      },
      onWatched: async (listener) => ((notify = listener), () => undefined),
      onWatchProgress: async (listener) => ((progress = listener), () => undefined),
    },
    sample: {
      addFile: (path, fresh = true) => {
        const name = path.split("/").pop() ?? path;
        const watchedFolder = folders.find((each) => path === `${each.path}/${name}`) ?? folder("/home/ines");
        const { format } = sampleDetection(path);
        detectedFiles = [
          { id: path, folder: watchedFolder.id, path, name, format, at: ago(0), fresh },
          ...detectedFiles,
        ];
        notify();
      },
      reportImportProgress: (path, share) => {
        importing = path;
        progress({ stage: "store", done: share * 100, total: 100, unit: "bytes", records: 0 });
      },
      finishImport: (name) => {
        detectedFiles = detectedFiles.filter((each) => each.id !== importing);
        importing = null;
        imported.push({ batch: `batch-${name}`, name, added: 14, updated: 3 });
        notify();
      },
    },
    imported: (paths) => void (detectedFiles = detectedFiles.filter((each) => !paths.includes(each.path))),
  };
}
