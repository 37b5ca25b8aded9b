import Bot from "@lucide/svelte/icons/bot";
import Inbox from "@lucide/svelte/icons/inbox";
import ClipboardPaste from "@lucide/svelte/icons/clipboard-paste";
import Bookmark from "@lucide/svelte/icons/bookmark";
import CircleQuestionMark from "@lucide/svelte/icons/circle-question-mark";
import Copy from "@lucide/svelte/icons/copy";
import Download from "@lucide/svelte/icons/download";
import Eye from "@lucide/svelte/icons/eye";
import FileText from "@lucide/svelte/icons/file-text";
import FileX from "@lucide/svelte/icons/file-x";
import FolderSearch from "@lucide/svelte/icons/folder-search";
import HistoryIcon from "@lucide/svelte/icons/history";
import HardDrive from "@lucide/svelte/icons/hard-drive";
import Info from "@lucide/svelte/icons/info";
import Keyboard from "@lucide/svelte/icons/keyboard";
import KeyRound from "@lucide/svelte/icons/key-round";
import ListChecks from "@lucide/svelte/icons/list-checks";
import Lock from "@lucide/svelte/icons/lock";
import MessagesSquare from "@lucide/svelte/icons/messages-square";
import Palette from "@lucide/svelte/icons/palette";
import Paperclip from "@lucide/svelte/icons/paperclip";
import Pencil from "@lucide/svelte/icons/pencil";
import Plus from "@lucide/svelte/icons/plus";
import Printer from "@lucide/svelte/icons/printer";
import Shield from "@lucide/svelte/icons/shield-alert";
import Settings from "@lucide/svelte/icons/settings";
import Trash2 from "@lucide/svelte/icons/trash-2";
import Undo2 from "@lucide/svelte/icons/undo-2";
import UsersRound from "@lucide/svelte/icons/users-round";
import Upload from "@lucide/svelte/icons/upload";
import { quickExportCommands } from "$features/exporting/quick-export.svelte";
import { openSection } from "$features/memories/kinds";
import { appearance } from "$lib/state/appearance.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { nav, SECTIONS, SETTINGS_PAGES, type Section, type SettingsPage } from "$lib/state/nav.svelte";
import { printing } from "$lib/state/printing.svelte";
import { emptyTrash } from "$lib/state/trash-actions";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { session } from "$lib/state/session.svelte";
import { t } from "$lib/text";
import type { IconComponent } from "$lib/ui/types";
import { run } from "../commands";
import { keysOf } from "../keymap";

/** A command, or a section or page to open. `words` are synonyms of its label. */
export type PaletteCommand = {
  id: string;
  label: string;
  words?: string;
  icon: IconComponent;
  keys?: string | undefined;
  run: () => void;
};

const PAGE_ICONS: Record<SettingsPage, IconComponent> = {
  security: Lock,
  agents: Bot,
  folders: FolderSearch,
  appearance: Palette,
  vault: HardDrive,
  keys: KeyRound,
  about: Info,
};
const SECTION_ICONS: Record<Section, IconComponent> = {
  home: Eye,
  memories: Bookmark,
  conversations: MessagesSquare,
  files: Paperclip,
  activity: HistoryIcon,
  sensitive: Shield,
  people: UsersRound,
  review: ListChecks,
  suggestions: Inbox,
  trash: Trash2,
  settings: Settings,
};
const TAB_ICONS = { transfers: HistoryIcon, changes: Pencil, tombstones: FileX, clients: Bot } as const;
const TABS = ["transfers", "changes", "tombstones", "clients"] as const;
const THEMES = ["light", "dark", "system"] as const;

/** Commands that are possible now, the most common ones first. */
export function commands(): PaletteCommand[] {
  const command = (
    name:
      "import" | "paste" | "export" | "export-all" | "export-text" | "print" | "write" | "lock" | "shortcuts" | "undo",
  ) => ({
    id: name,
    keys: keysOf(name),
    run: () => run(name),
  });
  return [
    { ...command("import"), label: t("palette.import"), words: t("palette.importWords"), icon: Download },
    {
      id: "guides",
      label: t("guides.title"),
      words: t("palette.guidesWords"),
      icon: CircleQuestionMark,
      run: () => dialogs.show({ kind: "guides" }),
    },
    { ...command("paste"), label: t("palette.paste"), words: t("palette.pasteWords"), icon: ClipboardPaste },
    ...(vault.empty
      ? []
      : [
          { ...command("export"), label: t("palette.export"), words: t("palette.exportWords"), icon: Upload },
          { ...command("export-all"), label: t("palette.exportAll"), words: t("palette.exportWords"), icon: Upload },
          ...quickExportCommands().map((each) => ({ ...each, words: t("palette.exportWords") })),
          { ...command("export-text"), label: t("palette.exportText"), words: t("palette.textWords"), icon: Copy },
        ]),
    ...(printing.shown
      ? [
          { ...command("print"), label: t("palette.print"), words: t("palette.printWords"), icon: Printer },
          {
            id: "save-html",
            label: t("palette.saveHtml"),
            words: t("palette.printWords"),
            icon: FileText,
            run: () => void (printing.shown && printing.save(printing.shown())),
          },
        ]
      : []),
    { ...command("write"), label: t("palette.write"), words: t("palette.writeWords"), icon: Plus },
    ...(toasts.canUndo ? [{ ...command("undo"), label: t("palette.undo"), icon: Undo2 }] : []),
    { ...command("lock"), label: t("palette.lock"), words: t("palette.lockWords"), icon: Lock },
    ...((vault.info?.trash ?? 0) > 0
      ? [
          {
            id: "empty-trash",
            label: t("trash.emptyAll"),
            words: t("palette.emptyWords"),
            icon: Trash2,
            run: () => void emptyTrash(),
          },
        ]
      : []),
    // Left out for a demonstration, whose passphrase can't be changed, see `Security.svelte`.
    ...(session.demonstration
      ? []
      : [
          {
            id: "passphrase",
            label: t("palette.passphrase"),
            words: t("palette.passphraseWords"),
            icon: KeyRound,
            run: () => dialogs.show({ kind: "passphrase" }),
          },
        ]),
    ...SETTINGS_PAGES.map((page) => ({
      id: `settings-${page}`,
      label: t("palette.settings", { page: t(`settings.${page}`) }),
      icon: PAGE_ICONS[page],
      run: () => {
        nav.settingsPage = page;
        nav.open("settings");
      },
    })),
    ...THEMES.map((theme) => ({
      id: `theme-${theme}`,
      label: t("palette.theme", { theme: t(`theme.${theme}`) }),
      words: t("palette.themeWords"),
      icon: Palette,
      run: () => appearance.setTheme(theme),
    })),
    { ...command("shortcuts"), label: t("keys.title"), words: t("palette.shortcutsWords"), icon: Keyboard },
  ];
}

/** The sections, and the tabs of the section Activity, as commands that open them. */
export function places(): PaletteCommand[] {
  return [
    ...SECTIONS.map((section) => ({
      id: `go-${section}`,
      label: t(`section.${section}`),
      icon: SECTION_ICONS[section],
      keys: keysOf({ go: section }),
      run: () => openSection(section),
    })),
    ...TABS.map((tab) => ({
      id: `go-activity-${tab}`,
      label: t(`activity.${tab}`),
      words: t("section.activity"),
      icon: TAB_ICONS[tab],
      // Only the tab used last has the shortcut of the section, because the shortcut opens that tab.
      keys: tab === nav.activityTab ? keysOf({ go: "activity" }) : undefined,
      run: () => {
        nav.activityTab = tab;
        nav.open("activity");
      },
    })),
  ];
}
