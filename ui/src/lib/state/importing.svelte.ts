import { UiError } from "./ui-error";
import { backend, BackendError, codeOf, type Detection, type FileCheck } from "$lib/ipc";
import { CHECKED_FORMATS, TEXT_FORMAT } from "$lib/state/formats";
import { joinSentences, t } from "$lib/text";
import { importedCounts } from "$lib/text/core";
import { JobProgress } from "./job.svelte";
import { Plan, planImports } from "./import-plans";
import { onLock, lockGuard } from "./lock-cleanup";
import { sensitive } from "./sensitive.svelte";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { registerWorkCheck } from "./unfinished-work";
import { vault } from "./vault.svelte";

/**
 * `inspected` means that the formats of the files are known, but the import can be planned only when a vault is open.
 * `locked` means that an encrypted file needs its passphrase.
 */
export type Stage =
  "idle" | "inspecting" | "inspected" | "locked" | "planning" | "plan" | "running" | "report" | "failed" | "cancelled";

/**
 * A dropped file that the import leaves out: no format is known or chosen for it, it is encrypted and the person left it
 * out, the person did not accept its invalid signature, or it can't be imported (`refused`, with the `problem`).
 */
export type LeftOutFile = {
  path: string;
  why: "no_format" | "encrypted" | "signature" | "refused";
  problem: UiError | null;
};

/** Errors that concern the whole import, not a single file. */
const GENERAL_ERRORS = new Set(["cancelled", "locked", "passphrase_needed", "passphrase_wrong"]);

/** The import of files that were dropped together or of a pasted text, from inspection to the report. */
class Importing {
  stage = $state<Stage>("idle");
  paths = $state.raw<string[]>([]);
  text = $state<string | null>(null);
  detections = $state.raw<Detection[]>([]);
  chosen = $state<Record<string, string>>({});
  /** Results of the check of each file, by path. Null while the check is running. */
  checks = $state.raw<Record<string, FileCheck | null>>({});
  plans = $state.raw<Plan[]>([]);
  /** Whether to import records even if they were deleted from the vault before. */
  importDeleted = $state(false);
  /** Keys of the plans whose invalid signature the person accepted. */
  #accepted = new Set<string>();
  /** Keys of the plans that import the intact parts of damaged files. */
  #salvaged = new Set<string>();
  background = $state(false);
  /** The import that is running, its number (`i`), and the number of all imports (`n`). */
  current = $state.raw<{ plan: Plan; i: number; n: number } | null>(null);
  /** Whether to scan for sensitive values after the import. */
  scanAfter = $state(true);
  job = $state.raw<JobProgress | null>(null);
  problem = $state.raw<UiError | null>(null);
  /** Whether the last typed passphrase was wrong. */
  passphraseWrong = $state(false);
  #passphrase: string | null = null;
  #run = 0;

  get busy(): boolean {
    return this.stage === "running";
  }

  /** Files without a recognised or chosen format. */
  get unrecognised(): Detection[] {
    return this.detections.filter((found) => !found.format && !found.encrypted && !this.chosen[found.path]);
  }

  /** Paths of encrypted files that the person left out. */
  #skipped = $state.raw<string[]>([]);

  /** The dropped files that the planned import leaves out, or that the completed import left out. */
  get leftOut(): LeftOutFile[] {
    const refused = this.plans
      .filter((plan) => !plan.report && !plan.pending)
      .flatMap(({ request, problem }) =>
        request.paths.map((path) => ({ path, why: problem ? ("refused" as const) : ("signature" as const), problem })),
      );
    return [
      ...this.unrecognised.map(({ path }) => ({ path, why: "no_format" as const, problem: null })),
      ...this.#skipped.map((path) => ({ path, why: "encrypted" as const, problem: null })),
      ...refused,
    ];
  }

  /** Number of encrypted files that the person left out. */
  get skipped(): number {
    return this.#skipped.length;
  }

  /** Encrypted files that were not opened yet. */
  get encryptedFiles(): Detection[] {
    return this.detections.filter((found) => found.encrypted);
  }

  /** Whether at least one import was completed before the next one failed or was cancelled. */
  get importedInPart(): boolean {
    const endedEarly = this.stage === "failed" || this.stage === "cancelled";
    return endedEarly && this.plans.some((plan) => plan.report !== null);
  }

  async choose(): Promise<void> {
    const paths = await backend().chooseFiles();
    if (paths.length > 0) await this.inspect(paths);
  }

  /** Recognises the formats of files. If a vault is open, also plans their import. */
  async inspect(paths: string[]): Promise<void> {
    if (this.busy) return;
    this.reset();
    this.paths = paths;
    await this.detect();
  }

  private async detect(): Promise<void> {
    const run = ++this.#run;
    this.stage = "inspecting";
    try {
      const found = await backend().detect(this.paths, this.#passphrase);
      if (run !== this.#run) return;
      this.detections = found.results;
      this.stage = "inspected";
      if (session.phase === "open") await this.plan();
    } catch (error) {
      if (run === this.#run) this.fail(error);
    }
  }

  async inspectText(text: string): Promise<void> {
    if (this.busy) return;
    this.reset();
    this.text = text;
    await this.plan();
  }

  setFormat(path: string, format: string): Promise<void> {
    this.chosen = { ...this.chosen, [path]: format };
    return this.plan();
  }

  setImportDeleted(on: boolean): Promise<void> {
    this.importDeleted = on;
    return this.plan();
  }

  /** Sets whether the files of a plan are imported despite an invalid signature. */
  acceptInvalidSignature(key: string, accept: boolean): void {
    if (accept) this.#accepted.add(key);
    else this.#accepted.delete(key);
    this.plans = this.plans.map((plan) => (plan.key === key ? plan.withInvalidSignatureAccepted(accept) : plan));
  }

  /** Plans to import only the intact parts of a plan's damaged files. The preview lists what is missing. */
  salvage(key: string): Promise<void> {
    this.#salvaged.add(key);
    return this.plan();
  }

  /** Continues with the passphrase of the encrypted files. The passphrase stays in memory until this import ends. */
  openEncrypted(passphrase: string): Promise<void> {
    this.#passphrase = passphrase;
    return this.encryptedFiles.length > 0 ? this.detect() : this.plan();
  }

  /** Continues without the encrypted files. */
  skipEncrypted(): Promise<void> {
    const encryptedPaths = new Set(this.encryptedFiles.map((found) => found.path));
    this.#skipped = [...this.#skipped, ...encryptedPaths];
    this.paths = this.paths.filter((path) => !encryptedPaths.has(path));
    this.detections = this.detections.filter((found) => !found.encrypted);
    return this.plan();
  }

  /** Tries again: plans the import if there is something to plan, and otherwise inspects the files. */
  retry(): Promise<void> {
    const canPlan = this.text !== null || this.detections.length > 0;
    return canPlan ? this.plan() : this.inspect(this.paths);
  }

  /** Computes what the import would do, without writing. If files are encrypted, it first asks for their passphrase. */
  async plan(): Promise<void> {
    const run = ++this.#run;
    this.job?.cancelSilently();
    this.problem = null;
    if (this.encryptedFiles.length > 0) {
      this.stage = "locked";
      return;
    }
    this.stage = "planning";
    void this.check();
    // Keep the plans of imports that were completed before a failure, so that they are not imported again.
    const plans = this.plans.filter((plan) => plan.report);
    const requested = this.requestedPlans().filter(({ key }) => !plans.some((plan) => plan.key === key));
    let firstError: unknown;
    try {
      for (const plan of requested) {
        try {
          this.job = new JobProgress();
          const preview = await backend().importPreview(this.job.id, plan.request, this.#passphrase, this.job.listen);
          if (run !== this.#run) return;
          plans.push(plan.with({ preview }));
        } catch (error) {
          if (run !== this.#run) return;
          // One unreadable file does not block the others.
          if (GENERAL_ERRORS.has(codeOf(error))) throw error;
          firstError ??= error;
          plans.push(plan.with({ problem: new UiError(error) }));
        }
      }
      this.plans = plans;
      if (firstError !== undefined && !plans.some((plan) => plan.preview && !plan.report)) throw firstError;
      this.stage = "plan";
    } catch (error) {
      if (run === this.#run) this.fail(error);
    }
  }

  /**
   * Checks integrity and signature of each file. The import does not wait for the results, because checking a large
   * file takes as long as importing it.
   */
  async check(): Promise<void> {
    const run = this.#run;
    for (const { path, format } of this.detections) {
      const knownFormat = this.chosen[path] ?? format;
      if (!knownFormat || !CHECKED_FORMATS.has(knownFormat)) continue;
      this.checks = { ...this.checks, [path]: null };
      const found = await backend()
        .checkFile(path, this.chosen[path] ?? null, this.#passphrase)
        .catch(() => undefined);
      if (run !== this.#run) return;
      const { [path]: _, ...others } = this.checks;
      this.checks = found ? { ...others, [path]: found } : others;
    }
  }

  private requestedPlans(): Plan[] {
    const base = {
      paths: [],
      text: this.text,
      format: null,
      limit_bytes: null,
      include_blocked: this.importDeleted,
      accept_invalid_signature: false,
      merge: null,
      salvage: false,
    };
    if (this.text !== null) return [new Plan({ ...base, format: TEXT_FORMAT }, TEXT_FORMAT)];
    const plans = planImports(this.detections, this.chosen, base);
    return plans
      .map((plan) => (this.#accepted.has(plan.key) ? plan.withInvalidSignatureAccepted(true) : plan))
      .map((plan) => (this.#salvaged.has(plan.key) ? plan.asSalvage() : plan));
  }

  async run(): Promise<void> {
    const run = ++this.#run;
    const isUnlocked = lockGuard();
    this.stage = "running";
    const wasPaused = sensitive.scanPaused;
    sensitive.scanPaused = !this.scanAfter;
    const pendingPlans = this.plans.filter((plan) => plan.pending);
    try {
      for (const [index, plan] of pendingPlans.entries()) {
        this.current = { plan, i: index + 1, n: pendingPlans.length };
        this.job = new JobProgress();
        const report = await backend().importRun(this.job.id, plan.request, this.#passphrase, this.job.listen);
        if (run !== this.#run) return;
        this.plans = this.plans.map((each) => (each === plan ? plan.with({ report }) : each));
        // If the person cancelled, but this import had already finished, skip the imports that follow.
        if (this.job.cancelling && index + 1 < pendingPlans.length)
          throw new BackendError({ code: "cancelled", message: "", details: {} });
      }
      this.stage = "report";
      vault.changed();
      if (this.background) this.announce();
    } catch (error) {
      if (run === this.#run) this.fail(error);
      // If nothing was imported, restore whether scans were paused before.
      if (isUnlocked() && !this.plans.some((plan) => plan.report)) sensitive.scanPaused = wasPaused;
      vault.changed();
    }
  }

  private announce(): void {
    const reports = this.plans.flatMap(({ report }) => report ?? []);
    const missing = this.leftOut.length;
    const done = t("import.doneToast", { counts: importedCounts(reports) });
    toasts.show(missing > 0 ? joinSentences([done, t("import.leftOut.title", { n: missing })]) : done, {
      icon: missing > 0 ? "alert" : "import",
    });
  }

  async cancel(): Promise<void> {
    await this.job?.cancel();
  }

  /** Title of the report of an import that failed or was cancelled. */
  get endTitle(): string {
    if (this.importedInPart) return t("import.partly.title");
    return t(this.stage === "cancelled" ? "import.ended.cancelled" : "import.ended.failed");
  }

  private fail(error: unknown): void {
    const isUnlocked = lockGuard();
    session.handleLocked(error);
    if (!isUnlocked()) return;
    const code = codeOf(error);
    if (code === "passphrase_needed" || code === "passphrase_wrong") {
      this.passphraseWrong = code === "passphrase_wrong";
      this.#passphrase = null;
      this.stage = "locked";
      return;
    }
    this.stage = code === "cancelled" ? "cancelled" : "failed";
    this.problem = new UiError(error);
    if (this.background) toasts.show(this.endTitle, { icon: "alert" });
  }

  reset(): void {
    this.#run += 1;
    this.job?.cancelSilently();
    this.stage = "idle";
    this.paths = [];
    this.text = null;
    this.detections = [];
    this.chosen = {};
    this.checks = {};
    this.plans = [];
    this.importDeleted = false;
    this.#accepted.clear();
    this.#salvaged.clear();
    this.#skipped = [];
    this.background = false;
    this.current = null;
    this.scanAfter = true;
    this.job = null;
    this.problem = null;
    this.passphraseWrong = false;
    this.#passphrase = null;
  }
}

export const importing = new Importing();
onLock(() => importing.reset());
registerWorkCheck(() => importing.busy);
