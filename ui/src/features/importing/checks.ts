import { backend, type FileCheck } from "$lib/ipc";
import { showError } from "$lib/state/trash-actions";
import { importing } from "$lib/state/importing.svelte";
import { t } from "$lib/text";
import { shortKey } from "$lib/text/format";

/** The result of a file check in one line, with its severity. */
export type CheckSummary = { tone: "ok" | "warn" | "danger" | "plain"; chip: string; text: string };

/** The summary of a file check. Null for formats without a check. */
export function checkSummary(check: FileCheck): CheckSummary | null {
  if (!check.checked) return null;
  if (isForged(check)) return { tone: "danger", chip: t("check.forged"), text: t("check.forgedText") };
  if (!check.ok)
    return { tone: "danger", chip: t("check.damaged"), text: t("check.damagedText", { n: check.errors.length }) };
  const text = signedBy(check);
  return { tone: check.signer?.trust_status === "new" ? "warn" : "ok", chip: t("check.whole"), text };
}

/**
 * Whether the signature itself is invalid. `valid` is also false if a correct signature no longer matches the content,
 * which does not count here.
 */
function isForged({ signature, errors }: FileCheck): boolean {
  if (signature.valid !== false) return false;
  return errors.length === 0 || errors.some((error) => error.code === "signature_invalid");
}

function signedBy({ signature, signer }: FileCheck): string {
  if (!signature.present) return t("check.unsigned");
  if (!signer) return t("check.signedUnread");
  const key = shortKey(signer.fingerprint);
  if (signer.trust_status === "own") return t("check.signedOwn");
  if (signer.trust_status === "trusted")
    return signer.name ? t("check.signedTrusted", { name: signer.name, key }) : t("check.signedKnown", { key });
  if (signer.trust_status === "seen") return t("check.signedSeen", { key });
  return t("check.signedNew", { key });
}

/** Trusts the signer of a file and repeats the checks. */
export async function trustSigner(check: FileCheck): Promise<void> {
  if (!check.signer) return;
  try {
    await backend().trustKey(check.signer.public_key, null);
    await importing.check();
  } catch (error) {
    showError(error);
  }
}
