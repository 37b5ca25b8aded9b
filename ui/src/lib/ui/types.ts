import type { LucideProps } from "@lucide/svelte";
import type { Component } from "svelte";

/** A Lucide icon. */
export type IconComponent = Component<LucideProps>;

export type MenuEntry =
  | {
      label: string;
      icon?: IconComponent;
      shortcut?: string | undefined;
      danger?: boolean;
      disabled?: boolean;
      checked?: boolean;
      testid?: string;
      run: () => void;
    }
  | "line";

export type Choice<T extends string = string> = {
  value: T;
  label: string;
  count?: number | undefined;
  testid?: string;
  /** The language of the label, if it differs from the window's. */
  lang?: string;
  /** The heading of the group to which this choice belongs. Choices with the same heading form a group. */
  group?: string;
};
