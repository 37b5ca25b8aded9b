import Bookmark from "@lucide/svelte/icons/bookmark";
import BookOpen from "@lucide/svelte/icons/book-open";
import Box from "@lucide/svelte/icons/box";
import Briefcase from "@lucide/svelte/icons/briefcase";
import CalendarDays from "@lucide/svelte/icons/calendar-days";
import FileText from "@lucide/svelte/icons/file-text";
import GraduationCap from "@lucide/svelte/icons/graduation-cap";
import HeartPulse from "@lucide/svelte/icons/heart-pulse";
import ListChecks from "@lucide/svelte/icons/list-checks";
import NotebookText from "@lucide/svelte/icons/notebook-text";
import SlidersHorizontal from "@lucide/svelte/icons/sliders-horizontal";
import Target from "@lucide/svelte/icons/target";
import UserRound from "@lucide/svelte/icons/user-round";
import Users from "@lucide/svelte/icons/users";
import { t, word } from "$lib/text";
import type { IconComponent } from "$lib/ui/types";

const ICONS: Record<string, IconComponent> = {
  fact: UserRound,
  semantic: UserRound,
  identity: UserRound,
  preference: SlidersHorizontal,
  project: Briefcase,
  person: Users,
  relationship: Users,
  health: HeartPulse,
  instruction: ListChecks,
  procedural: ListChecks,
  custom_instructions: ListChecks,
  project_instructions: ListChecks,
  goal: Target,
  event: CalendarDays,
  episodic: CalendarDays,
  skill: GraduationCap,
  project_doc: FileText,
  note: NotebookText,
  notes: NotebookText,
};

/** Icons of the kinds that are listed among the memories. */
const KIND_ICONS: Record<string, IconComponent> = {
  profile: UserRound,
  entity: Users,
  resource: FileText,
  chunk: FileText,
  procedure: ListChecks,
  todo: ListChecks,
  fact: BookOpen,
  foreign: Box,
};

/** The icon of a kind that is listed among the memories. */
export function kindIcon(kind: string): IconComponent {
  return KIND_ICONS[kind] ?? Bookmark;
}

/** The icon of a memory type. */
export function typeIcon(type: string): IconComponent {
  return ICONS[type] ?? Bookmark;
}

/**
 * The name of a memory type: `Preference` for one memory, `Preferences` for a group. If the type is missing, only a
 * group has a name.
 */
export function typeName(type: string | null, group = false): string {
  if (!type) return group ? t("filter.untyped") : "";
  return word(group ? "types" : "type", type);
}

/** Types that the window offers. If the type of a record is not in this list, it is offered for that record as well. */
export const TYPES = [
  "fact",
  "preference",
  "project",
  "person",
  "health",
  "instruction",
  "goal",
  "event",
  "skill",
  "other",
];

/** The subjects that a memory can have. */
export const ABOUT_KINDS = [
  "who_you_are",
  "people",
  "work",
  "projects",
  "health",
  "money",
  "places_travel",
  "home",
  "food",
  "tastes",
  "beliefs",
  "plans",
  "how_to_answer",
];

/** The name of a subject. An empty `kind` means memories without a suggested subject. */
export function aboutName(kind: string): string {
  return kind === "" ? t("filter.noAbout") : word("about", kind);
}
