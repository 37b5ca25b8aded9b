import CreditCard from "@lucide/svelte/icons/credit-card";
import IdCard from "@lucide/svelte/icons/id-card";
import KeyRound from "@lucide/svelte/icons/key-round";
import LockKeyhole from "@lucide/svelte/icons/lock-keyhole";
import Mail from "@lucide/svelte/icons/mail";
import Phone from "@lucide/svelte/icons/phone";
import { stepsId } from "$features/conversations/branches";
import type { ContextPiece, SensitivePlace } from "$lib/ipc";
import { oneLine } from "$lib/logic/untrusted-text";
import type { TextSegment } from "$lib/logic/text-segments";
import type { Kind } from "$lib/logic/sensitive";
import { nav } from "$lib/state/nav.svelte";
import { nameInSentence, t, word } from "$lib/text";
import type { IconComponent } from "$lib/ui/types";

export const ICONS: Record<Kind, IconComponent> = {
  keys: KeyRound,
  bank: CreditCard,
  ids: IdCard,
  phones: Phone,
  emails: Mail,
  stored: LockKeyhole,
};

/** How many characters before the value fit into a row. */
const MAX_LETTERS_BEFORE = 20;
/** The backend puts this placeholder into a title in place of a value. */
const PLACEHOLDER = "█████";

const bar: TextSegment = { kind: "bar", text: "" };

/** The end of the text before the value, on one line. */
export function textBefore(context: readonly ContextPiece[]): TextSegment[] {
  const parts: TextSegment[] = [];
  let lettersLeft = MAX_LETTERS_BEFORE;
  const valueIndex = context.findIndex((segment) => segment.this);
  for (const segment of context.slice(0, Math.max(0, valueIndex)).reverse()) {
    if (lettersLeft <= 0) break;
    const text = oneLine(segment.text);
    const points = [...text];
    lettersLeft -= segment.hidden ? MAX_LETTERS_BEFORE / 3 : points.length;
    if (segment.hidden) parts.unshift(bar);
    else if (lettersLeft >= 0) parts.unshift({ kind: "text", text });
    else
      parts.unshift({
        kind: "text",
        text: `…${points
          .slice(-lettersLeft)
          .join("")
          .replace(/^\S*\s/u, "")}`,
      });
  }
  return parts;
}

/** The text after the value. It is shown if the value is at the very start of a text. */
export function textAfter(context: readonly ContextPiece[]): TextSegment[] {
  const from = context.findIndex((segment) => segment.this) + 1;
  return context.slice(from).map((segment) => (segment.hidden ? bar : { kind: "text", text: oneLine(segment.text) }));
}

/** A title with bars in place of the backend's placeholders. */
export function titleSegments(title: string): TextSegment[] {
  return title
    .split(PLACEHOLDER)
    .flatMap((text, index): TextSegment[] => [
      ...(index > 0 ? [bar] : []),
      ...(text ? [{ kind: "text" as const, text: oneLine(text) }] : []),
    ]);
}

/** The kind of a place: `message`, `reply`, `memory` … */
export function placeName(place: SensitivePlace): string {
  if (place.field === "block") return t("sensitive.at.step");
  if (place.kind !== "message") return nameInSentence(word("kind", place.kind));
  return place.role === "assistant" ? t("sensitive.at.reply") : t("sensitive.at.message");
}

/** Like `placeName`, but a message is named `conversation`. */
export function rowPlaceName(place: SensitivePlace): string {
  return place.kind === "message" && place.field !== "block"
    ? nameInSentence(word("kind", "conversation"))
    : placeName(place);
}

/** The link text that leads to the place of the value. */
export function openLinkText(place: SensitivePlace): string {
  if (place.kind === "message") return t("sensitive.open.message");
  if (place.kind === "memory") return t("sensitive.open.memory");
  return place.kind === "attachment" ? t("sensitive.open.file") : t("sensitive.open.entry");
}

export function openLocation(place: SensitivePlace): void {
  const valueIsInSteps = place.field === "block";
  if (place.kind === "message")
    nav.go("conversations", place.conversation_id, valueIsInSteps ? stepsId(place.id) : place.id);
  else if (place.kind === "conversation") nav.go("conversations", place.id);
  else if (place.kind === "attachment" && place.conversation_id) nav.go("conversations", place.conversation_id);
  else nav.go(place.kind === "attachment" ? "files" : "memories", place.id);
}
