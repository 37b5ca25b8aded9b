import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

/** Imports have one direction: shell → features → lib. In lib, ui and logic import neither backend nor state. */
const limit = (patterns) => ({ "no-restricted-imports": ["error", { patterns }] });
const tauri = { group: ["@tauri-apps/*"], message: "Only src/lib/ipc talks to Tauri." };
const bindings = { group: ["**/ipc/bindings", "**/ipc/tauri"], message: "Use the Backend interface of $lib/ipc." };
const features = { group: ["$features/*", "**/features/**"], message: "lib does not know the features." };
const shell = { group: ["**/shell/**"], message: "The shell is the outermost layer." };
const domain = {
  group: ["$lib/ipc*", "$lib/state/*", "**/ipc/**", "**/state/**"],
  message: "lib/ui knows nothing of memories.",
};

export default ts.config(
  { ignores: ["**/dist", "**/public", "**/ipc/bindings.ts", "**/ipc/formats.ts"] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: [".svelte"], svelteConfig } },
  },
  {
    rules: {
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "no-undef": "off",
      "svelte/require-each-key": "error",
      // Sets and maps here are local to a function, or replaced as a whole.
      "svelte/prefer-svelte-reactivity": "off",
      "svelte/no-at-html-tags": "error",
      "max-lines": ["error", { max: 400, skipBlankLines: true }],
    },
  },
  { files: ["**/src/**"], rules: limit([tauri, bindings]) },
  { files: ["**/src/lib/**"], rules: limit([tauri, bindings, features, shell]) },
  {
    files: ["**/src/lib/ui/**", "**/src/lib/logic/**", "**/src/lib/text/**"],
    rules: limit([tauri, bindings, features, shell, domain]),
  },
  { files: ["**/src/features/**"], rules: limit([tauri, bindings, shell]) },
  { files: ["**/src/lib/ipc/**"], rules: { "no-restricted-imports": "off" } },
);
