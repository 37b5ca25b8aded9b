// Runs before the first paint: theme, text size and language, so that nothing flashes. Keys as in src/lib/state/appearance.svelte.ts.
(function () {
  try {
    var theme = localStorage.getItem("keepsake.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    var language = localStorage.getItem("keepsake.language");
    if (language) document.documentElement.lang = language;
    var size = localStorage.getItem("keepsake.text-size");
    if (size) document.documentElement.dataset.textSize = size;
  } catch (error) {
    /* no storage: the system's look */
  }
})();
