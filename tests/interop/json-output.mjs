/** The JSON object that a program printed. If it printed none, its output is in the error. */
export function jsonOutput({ code, stdout, stderr }) {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`ended with ${code}: ${stdout.slice(0, 400)}${stderr.slice(-400)}`);
  }
}
