import type { Detection, ImportReport, ImportRequest } from "$lib/ipc";
import { CONTINUING_FORMATS } from "$lib/state/formats";
import { exportName, PORTABLE_FORMATS } from "$lib/logic/assistants";
import { t } from "$lib/text";
import { fileName } from "$lib/text/format";
import type { UiError } from "./ui-error";

type PlanResult = { preview?: ImportReport; report?: ImportReport; problem?: UiError };

/** One planned import: its request, and its preview, its report or the reason why it cannot run. */
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

  /** The same plan for importing what is left of its damaged files, without a preview yet. */
  asSalvage(): Plan {
    return new Plan({ ...this.request, salvage: true }, this.format);
  }

  /** The same plan, with the person's answer whether to import despite an invalid signature. */
  withInvalidSignatureAccepted(accept: boolean): Plan {
    const { preview, report, problem } = this;
    return new Plan({ ...this.request, accept_invalid_signature: accept }, this.format, {
      ...(preview && { preview }),
      ...(report && { report }),
      ...(problem && { problem }),
    });
  }

  /** Whether the signature of one of its files is invalid. */
  get hasInvalidSignature(): boolean {
    return this.preview !== null && this.preview.invalid_signatures.length > 0;
  }

  /** Whether it can be imported now: it has a preview and no report, and no invalid signature that was not accepted. */
  get pending(): boolean {
    const refused = this.hasInvalidSignature && !this.request.accept_invalid_signature;
    return this.preview !== null && this.report === null && !refused;
  }

  /**
   * The file name, or the assistant's name if the assistant named the file. A getter, so that it follows the language.
   */
  get label(): string {
    const { text, paths, format } = this.request;
    if (text !== null) return t("import.pasted");
    const hasOwnName = format !== null || this.format === null || PORTABLE_FORMATS.has(this.format);
    return paths.length === 1 && hasOwnName ? fileName(paths[0] ?? "") : exportName(this.format);
  }
}

/**
 * Groups files into one import per format, because an export may consist of several files. Files whose format the
 * person chose are a separate import. Leaves out unknown files.
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
  // A file that continues an earlier export is imported after it.
  const rank = (plan: Plan) => Number(plan.format !== null && CONTINUING_FORMATS.has(plan.format));
  return [...groups.values()].sort((a, b) => rank(a) - rank(b));
}
