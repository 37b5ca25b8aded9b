import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    languageOptions: { globals: globals.node },
    rules: { "no-unused-vars": ["error", { argsIgnorePattern: "^_" }], "max-lines": ["error", { max: 600 }] },
  },
  // Functions in here run inside the window.
  { files: ["**/e2e/**", "**/screens/**"], languageOptions: { globals: { ...globals.node, ...globals.browser } } },
];
