import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL(".", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

export default defineConfig({
  root,
  clearScreen: false,
  plugins: [svelte({ configFile: `${root}svelte.config.js` }), svelteTesting()],
  define: { __APP_VERSION__: JSON.stringify(version) },
  resolve: {
    alias: { $lib: `${root}src/lib`, $features: `${root}src/features` },
  },
  server: { port: 1420, strictPort: true },
  // For targets before Safari 16, private fields are compiled to maps. Svelte would then create several maps per list
  // row.
  build: { outDir: "dist", emptyOutDir: true, target: "safari16", modulePreload: { polyfill: false } },
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.ts"],
    setupFiles: ["tests/setup.ts"],
    restoreMocks: true,
    // Only a test that hangs fails by its time. A busy machine needs longer than the 5 s of the default.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
