import type { AuditEntry, Backend, RecentVault } from "../backend";
import { runStages } from "./jobs";

type Commands = Pick<Backend, "recentVaults" | "forgetRecent" | "backup" | "backupsOf">;
type Sample = { requireOpen: () => void; entries: AuditEntry[]; stepMs: number; present: boolean };

/** Sample vaults on this computer, and a backup of the open one. */
export function sampleVaults({ requireOpen, entries, stepMs, present }: Sample): Commands {
  let recent: RecentVault[] = [
    { path: "/home/ines/Documents/Ines.mementory", name: "Ines", present },
    { path: "/media/backup/Family.mementory", name: "Family", present: false },
  ];
  return {
    recentVaults: async () => structuredClone(recent),
    forgetRecent: async (path) => void (recent = recent.filter((each) => each.path !== path)),
    backupsOf: async (path) => {
      const stem = path.replace(/\.mementory$/, "");
      const at = ["2026-11-15 0912", "2026-10-30 1840"];
      return at.map((moment) => ({
        path: `${stem} ${moment}.mementory`,
        name: `${stem.split("/").pop() ?? ""} ${moment}`,
        // The name of a backup contains the local time.
        changed_at: new Date(`${moment.slice(0, 10)}T${moment.slice(11, 13)}:${moment.slice(13)}`).toISOString(),
      }));
    },
    backup: async (job, out, onProgress) => {
      requireOpen();
      await runStages(job, ["copy"], 0, stepMs, onProgress);
      const at = new Date().toISOString();
      entries.push({
        seq: entries.length + 1,
        at,
        actor: "user",
        op: "backup",
        target: "vault",
        detail: "",
        file: null,
      });
      return { path: out, bytes: 1_862_000_000, digest: "5e".repeat(32) };
    },
  };
}
