import { joinWithCommas, count, t } from "./index";
import { currentLocale } from "./locale.svelte";

type Time = string | number | null | undefined;

/**
 * Parses a time. Returns null if it is invalid. A date without a time means local midnight, whereas `Date` would read
 * it as midnight UTC.
 */
export function parseTime(value: Time): Date | null {
  if (value === null || value === undefined || value === "") return null;
  const date = new Date(typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00` : value);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** Formats a date as `12 Mar 2026`. Empty if the date is unknown. */
export function day(value: Time): string {
  const date = parseTime(value);
  return date ? currentLocale().day.format(date) : "";
}

/** Formats a date of this year as `20 Nov`, and a date of another year as `20 Nov 2025`. */
export function shortDay(value: Time, now = new Date()): string {
  const date = parseTime(value);
  if (!date) return "";
  return (date.getFullYear() === now.getFullYear() ? currentLocale().short : currentLocale().day).format(date);
}

/** Formats a date as `12 March 2026`. */
export function longDay(value: Time): string {
  const date = parseTime(value);
  return date ? currentLocale().long.format(date) : "";
}

/** Formats the month of a date as `November 2026`. */
export function month(value: Time): string {
  const date = parseTime(value);
  return date ? currentLocale().month.format(date) : "";
}

/** Formats a date as `Nov 26` (month and year) for the labels under a chart. */
export function shortMonth(value: Time): string {
  const date = parseTime(value);
  return date ? currentLocale().shortMonth.format(date) : "";
}

/** Formats the time of day as `09:12`. */
export function clock(value: Time): string {
  const date = parseTime(value);
  return date ? currentLocale().time.format(date) : "";
}

/** Formats a date and its time of day as `12 Mar 2026, 21:14`. */
export function dayTime(value: Time): string {
  const date = parseTime(value);
  return date ? joinWithCommas([currentLocale().day.format(date), currentLocale().time.format(date)]) : "";
}

/** Formats a time of today as `Today, 09:12`, and any other time with its `shortDay`, as `18 Nov, 20:05`. */
export function relativeTime(value: Time, now = new Date()): string {
  const date = parseTime(value);
  if (!date) return "";
  const dayText = date.toDateString() === now.toDateString() ? t("time.today") : shortDay(value, now);
  return joinWithCommas([dayText, currentLocale().time.format(date)]);
}

/** Formats today as `today`, and any other day like `shortDay`, for use inside a sentence. */
export function relativeDayInSentence(value: Time, now = new Date()): string {
  const date = parseTime(value);
  return date?.toDateString() === now.toDateString() ? t("time.onToday") : shortDay(value, now);
}

/** Like `relativeTime`, but for use inside a sentence: formats a time of today as `today, 09:12`. */
export function relativeTimeInSentence(value: Time, now = new Date()): string {
  return joinWithCommas([relativeDayInSentence(value, now), clock(value)]);
}

/** The number of days until a time, rounded up, at least 0. */
export function daysLeft(value: Time, now = new Date()): number {
  const date = parseTime(value);
  return date ? Math.max(0, Math.ceil((date.getTime() - now.getTime()) / 86_400_000)) : 0;
}

/** The number of whole days since a time, at least 0. */
export function daysSince(value: Time, now = new Date()): number {
  const date = parseTime(value);
  return date ? Math.max(0, Math.floor((now.getTime() - date.getTime()) / 86_400_000)) : 0;
}

/** Formats a size such as `2.1 MB`. The units are powers of 1000. Empty if the size is unknown. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "";
  const units = ["bytes.b", "bytes.kb", "bytes.mb", "bytes.gb", "bytes.tb"] as const;
  let size = value;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const n = unit > 0 && size < 9.95 ? currentLocale().oneDecimal.format(size) : count(Math.round(size));
  return t(units[unit] ?? "bytes.b", { size: n, n: Math.round(size) });
}

/** The last component of a path. The path may come from any operating system. */
export function fileName(path: string): string {
  return (
    path
      .replace(/[\\/]+$/, "")
      .split(/[\\/]/)
      .pop() ?? path
  );
}

/** A vault's name: the name of its folder without the current extension or the former one. */
export function vaultName(path: string): string {
  return fileName(path).replace(/\.(mementory|keepsake)$/, "");
}

/** The path of the folder that contains `path`, or `path` itself if it has only one component. */
export function folderName(path: string): string {
  const parts = path.replace(/[\\/]+$/, "").split(/[\\/]/);
  parts.pop();
  return parts.join(path.includes("\\") ? "\\" : "/") || path;
}

/** Joins a folder and a name with the separator that the folder uses. */
export function joinPath(folder: string, name: string): string {
  const separator = folder.includes("\\") && !folder.includes("/") ? "\\" : "/";
  return folder.endsWith(separator) ? folder + name : folder + separator + name;
}

/** The first 16 characters of a key's fingerprint, in groups of four: `7f3a 91c0 44de 0b12`. */
export function shortKey(fingerprint: string): string {
  return fingerprint.slice(0, 16).replaceAll(/(.{4})(?=.)/g, "$1 ");
}

/** The last two components of a path: `Documents / Ines.mementory`. */
export function shortPath(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).slice(-2).join(" / ");
}

/** Formats the local date as `2026-11-21`. */
export function isoDay(date = new Date()): string {
  const twoDigits = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}
