// Runs a part of the window tests in a subprocess, inside a wrapper such as `unshare` or `dbus-run-session`.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Reports one step from inside the subprocess. */
export const reportStep = (name, good) => console.log(JSON.stringify({ name, good }));

/**
 * Runs `file` with the argument `inside` in a subprocess, started by the wrapper `program args…`, and counts the steps
 * that the subprocess reports. If the subprocess fails or reports no step, a failed step named `name` is counted.
 */
export async function runInSubprocess(count, name, [program, ...args], file, stderr = "inherit") {
  const child = spawn(program, [...args, process.execPath, file, "inside"], { stdio: ["ignore", "pipe", stderr] });
  const exited = new Promise((done) => child.on("close", done));
  let steps = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) {
      console.log(`  ${line}`);
      continue;
    }
    const step = JSON.parse(line);
    count.add(step.name, step.good);
    steps += 1;
  }
  if ((await exited) !== 0 || steps === 0) count.add(name, false);
}
