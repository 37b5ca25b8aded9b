// Parses the command lines of the scripts behind `npm run`.
import { parseArgs } from "node:util";
import { Stop } from "./sh.mjs";

const HELP_OPTION = { type: "boolean", short: "h", default: false };

/**
 * Parses the command line like `parseArgs`, with the option --help added. Returns {values, positionals}, or undefined
 * after printing the usage text because --help was given. Throws [`Stop`] with the usage text if an option is wrong.
 */
export function parseOptions(usageText, { options, ...config }) {
  let parsed;
  try {
    parsed = parseArgs({ ...config, options: { ...options, help: HELP_OPTION } });
  } catch (error) {
    throw new Stop(`${error.message}\n\n${usageText}`);
  }
  if (!parsed.values.help) return parsed;
  console.log(usageText);
  return undefined;
}
