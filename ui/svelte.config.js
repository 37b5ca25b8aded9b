import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

/** Component styles go into files: the content security policy refuses style elements. */
export default {
  preprocess: vitePreprocess(),
  compilerOptions: { css: "external" },
};
