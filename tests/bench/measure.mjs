// Runs the command line and measures time and memory.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ENV, Stop } from "../tools/sh.mjs";

const GNU_TIME_PROGRAM = "/usr/bin/time";

/** Runs programs and measures them. CPU seconds and memory need GNU time; without it they are NaN. */
export class Meter {
  constructor(folder) {
    this.timeFile = join(folder, "time.txt");
    this.gnu = process.platform === "linux" && existsSync(GNU_TIME_PROGRAM);
  }

  /** Runs a program. Returns {status, stdout, stderr, wall, user, sys, rss}: seconds, and peak memory in MB. */
  measure(command) {
    const fullCommand = this.gnu ? [GNU_TIME_PROGRAM, "-f", "%U %S %M", "-o", this.timeFile, ...command] : command;
    const started = performance.now();
    const { status, stdout, stderr, error } = spawnSync(fullCommand[0], fullCommand.slice(1), {
      env: ENV,
      encoding: "utf8",
      maxBuffer: 1 << 30,
    });
    const wall = (performance.now() - started) / 1000;
    if (error) throw error;
    const [user, sys, kib] = this.gnu
      ? readFileSync(this.timeFile, "utf8").trim().split("\n").at(-1).split(" ").map(Number)
      : [NaN, NaN, NaN];
    return { status, stdout, stderr, wall, user, sys, rss: (kib * 1024) / 1e6 };
  }
}

/** Runs the command line of the release build. */
export class Mementory {
  constructor({ program, folder, secret }) {
    Object.assign(this, { program, folder, secret, meter: new Meter(folder) });
  }

  /**
   * Runs a command on `vault`. Returns {value, wall, user, sys, rss}: `value` is the parsed JSON, or the printed text
   * if the program did not print a JSON object. `{ exits }` before the command lists the accepted exit codes; without
   * it only 0 is accepted.
   */
  run(vault, ...args) {
    const { exits } = typeof args[0] === "object" ? args.shift() : { exits: [0] };
    const command = [this.program, "--vault", vault, "--passphrase-file", this.secret, "--json", ...args];
    const { status, stdout, stderr, ...usage } = this.meter.measure(command);
    if (!exits.includes(status))
      throw new Stop(
        `mementory ${args.slice(0, 4).join(" ")} ended with ${status}: ${(stdout || stderr).slice(0, 2000)}`,
      );
    return { value: stdout.startsWith("{") ? JSON.parse(stdout) : stdout, ...usage };
  }

  /** Median wall seconds of seven runs of a command on `vault`. */
  median(vault, ...args) {
    return median(Array.from({ length: 7 }, () => this.run(vault, ...args).wall));
  }

  /** Median wall seconds of seven runs that only print the version. */
  measureStart() {
    const once = () => {
      const started = performance.now();
      spawnSync(this.program, ["--version"], { env: ENV });
      return (performance.now() - started) / 1000;
    };
    return median(Array.from({ length: 7 }, once));
  }
}

/** Time and memory of a run as text for a table. */
export function usageText({ wall, user, sys, rss }) {
  const cpu = Number.isNaN(user)
    ? "CPU and memory not measured"
    : `CPU ${(user + sys).toFixed(user + sys < 1 ? 2 : 1)} s, peak ${rss.toFixed(0)} MB`;
  return `${wall.toFixed(wall < 1 ? 2 : 1)} s, ${cpu}`;
}

export const median = (values) => quantile(values, 0.5);

/** The quantile `part` (between 0 and 1) of the values. */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];
}
