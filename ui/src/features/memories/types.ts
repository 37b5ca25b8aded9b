import Bookmark from "@lucide/svelte/icons/bookmark";
import Briefcase from "@lucide/svelte/icons/briefcase";
import HeartPulse from "@lucide/svelte/icons/heart-pulse";
import ListChecks from "@lucide/svelte/icons/list-checks";
import SlidersHorizontal from "@lucide/svelte/icons/sliders-horizontal";
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
};

/** The icon of a memory type. */
export function typeIcon(type: string): IconComponent {
  return ICONS[type] ?? Bookmark;
}

/** `Preference` for one memory, `Preferences` for a group. The empty type is the group without a type. */
export function typeName(type: string | null, group = false): string {
  if (!type) return group ? t("filter.untyped") : "";
  return word(group ? "types" : "type", type);
}

/** Types that the window offers. A record with another type has that one as an additional choice. */
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
