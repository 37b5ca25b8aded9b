import type { Detection, ImportReport, ImportRequest } from "$lib/ipc";
import { INCREMENTAL_FORMATS } from "$lib/state/formats";
import { exportName, PORTABLE_FORMATS } from "$lib/logic/assistants";
import { t } from "$lib/text";
import { fileName } from "$lib/text/format";
import type { UiError } from "./ui-error";

type PlanResult = { preview?: ImportReport; report?: ImportReport; problem?: UiError };

/** One planned import: its request and, as soon as they are known, its preview, its report, or why it cannot run. */
export class Plan {
  readonly preview: ImportReport | null;
  readonly report: ImportReport | null;
  readonly problem: UiError | null;

  constructor(
    readonly request: ImportRequest,
    readonly format: string | null,
    { preview, report, problem }: PlanResult = {},
  ) {
    this.preview = preview ?? null;
    this.report = report ?? null;
    this.problem = problem ?? null;
  }

  with(result: PlanResult): Plan {
    const { preview, report, problem } = this;
    return new Plan(this.request, this.format, {
      ...(preview && { preview }),
      ...(report && { report }),
      ...(problem && { problem }),
      ...result,
    });
  }

  get key(): string {
    return [this.request.format, ...this.request.paths].join("\n");
  }

  /**
   * Returns this plan changed so that only the intact parts of its damaged files are imported. The returned plan has
   * no preview yet.
   */
  asSalvage(): Plan {
    return new Plan({ ...this.request, salvage: true }, this.format);
  }

  /** Returns this plan with the person's answer whether to import despite an invalid signature. */
  withInvalidSignatureAccepted(accept: boolean): Plan {
    const { preview, report, problem } = this;
    return new Plan({ ...this.request, accept_invalid_signature: accept }, this.format, {
      ...(preview && { preview }),
      ...(report && { report }),
      ...(problem && { problem }),
    });
  }

  /** Whether the plan has a file with an invalid signature. */
  get hasInvalidSignature(): boolean {
    return this.preview !== null && this.preview.invalid_signatures.length > 0;
  }

  /**
   * Whether the plan can be imported now: it has a preview and no report yet, and the person accepted all its invalid
   * signatures, if there are any.
   */
  get pending(): boolean {
    const refused = this.hasInvalidSignature && !this.request.accept_invalid_signature;
    return this.preview !== null && this.report === null && !refused;
  }

  /**
   * The file name if there is one file whose name a person chose, otherwise a name such as `ChatGPT export`. This is a
   * getter, so that it changes with the language.
   */
  get label(): string {
    const { text, paths, format } = this.request;
    if (text !== null) return t("import.pasted");
    const hasOwnName = format !== null || this.format === null || PORTABLE_FORMATS.has(this.format);
    return paths.length === 1 && hasOwnName ? fileName(paths[0] ?? "") : exportName(this.format);
  }
}

/**
 * Groups files into imports. Files with the same format are one import, because an export may consist of several files.
 * Files whose format the person chose are grouped separately from files whose format was detected. Files with an
 * unknown format are left out.
 */
export function planImports(
  detections: readonly Detection[],
  chosen: Readonly<Record<string, string>>,
  base: ImportRequest,
): Plan[] {
  const groups = new Map<string, Plan>();
  for (const { path, format } of detections) {
    const chosenFormat = chosen[path] ?? null;
    const knownFormat = chosenFormat ?? format;
    if (!knownFormat) continue;
    const key = `${knownFormat} ${chosenFormat !== null}`;
    const paths = [...(groups.get(key)?.request.paths ?? []), path];
    groups.set(key, new Plan({ ...base, paths, format: chosenFormat }, knownFormat));
  }
  // Files that continue an earlier export must be imported after it, so their plans come last.
  const rank = (plan: Plan) => Number(plan.format !== null && INCREMENTAL_FORMATS.has(plan.format));
  return [...groups.values()].sort((a, b) => rank(a) - rank(b));
}
