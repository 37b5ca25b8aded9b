/** Parses the JSON object that a program printed. If it printed none, the error contains its output. */
export function parseJsonOutput({ code, stdout, stderr }) {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`ended with ${code}: ${stdout.slice(0, 400)}${stderr.slice(-400)}`);
  }
}
