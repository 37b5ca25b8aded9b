/** What a program printed, as an object. What it says when it prints none is in the error. */
export function answer({ code, stdout, stderr }) {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`ended with ${code}: ${stdout.slice(0, 400)}${stderr.slice(-400)}`);
  }
}
