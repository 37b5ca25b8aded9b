// A part of the window's tests in a process of its own, inside what that process needs around it.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** What such a process says of one step. */
export const tell = (name, good) => console.log(JSON.stringify({ name, good }));

/** Run `program args… node file inside` and count what it tells; `name` is what is counted when it breaks off. */
export async function apart(count, name, [program, ...args], file, stderr = "inherit") {
  const child = spawn(program, [...args, process.execPath, file, "inside"], { stdio: ["ignore", "pipe", stderr] });
  const over = new Promise((done) => child.on("close", done));
  let said = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) {
      console.log(`  ${line}`);
      continue;
    }
    const step = JSON.parse(line);
    count.add(step.name, step.good);
    said += 1;
  }
  if ((await over) !== 0 || said === 0) count.add(name, false);
}
