import type { Detection, ImportReport, ImportRequest } from "$lib/ipc";
import { exportName, PORTABLE } from "$lib/logic/assistants";
import { t } from "$lib/text";
import { fileName } from "$lib/text/format";
import type { UiError } from "./ui-error";

type Found = { preview?: ImportReport; report?: ImportReport; problem?: UiError };

/** One import of a drop: what is asked for, what it would do and what it did, or why it can't be imported. */
export class Plan {
  readonly preview: ImportReport | null;
  readonly report: ImportReport | null;
  readonly problem: UiError | null;

  constructor(
    readonly request: ImportRequest,
    readonly format: string | null,
    { preview, report, problem }: Found = {},
  ) {
    this.preview = preview ?? null;
    this.report = report ?? null;
    this.problem = problem ?? null;
  }

  with(found: Found): Plan {
    const { preview, report, problem } = this;
    return new Plan(this.request, this.format, {
      ...(preview && { preview }),
      ...(report && { report }),
      ...(problem && { problem }),
      ...found,
    });
  }

  get key(): string {
    return [this.request.format, ...this.request.paths].join("\n");
  }

  /** It can be imported, and was not yet. */
  get pending(): boolean {
    return this.preview !== null && this.report === null;
  }

  /** Read when it is shown, so that it follows the language. An assistant's export seldom has a name that says much. */
  get label(): string {
    const { text, paths, format } = this.request;
    if (text !== null) return t("import.pasted");
    const named = format !== null || this.format === null || PORTABLE.has(this.format);
    return paths.length === 1 && named ? fileName(paths[0] ?? "") : exportName(this.format);
  }
}

/**
 * What to ask for, by assistant or format: the parts of one export belong together, and exports of several assistants
 * are told apart. What nothing was recognised or chosen for stays out.
 */
export function planImports(
  detections: readonly Detection[],
  chosen: Readonly<Record<string, string>>,
  base: ImportRequest,
): Plan[] {
  const groups = new Map<string, Plan>();
  for (const { path, format } of detections) {
    const own = chosen[path] ?? null;
    const known = own ?? format;
    if (!known) continue;
    const key = `${known} ${own !== null}`;
    const paths = [...(groups.get(key)?.request.paths ?? []), path];
    groups.set(key, new Plan({ ...base, paths, format: own }, known));
  }
  // A delta tells what changed since an archive, so it comes after it.
  const late = (plan: Plan) => Number(plan.format === "alf_delta");
  return [...groups.values()].sort((a, b) => late(a) - late(b));
}
