// Sets theme, text size, language, font, blur and motion before the first paint, so that nothing flashes. The keys are
// those of src/lib/state/appearance.svelte.ts, and `mementory.font`, the font of the desktop, which only Linux passes.
(function () {
  try {
    var theme = localStorage.getItem("mementory.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    var language = localStorage.getItem("mementory.language");
    if (language) document.documentElement.lang = language;
    var size = localStorage.getItem("mementory.text-size");
    if (size) document.documentElement.dataset.textSize = size;
    var font = localStorage.getItem("mementory.font");
    if (font) {
      document.documentElement.style.setProperty("--font-ui", font);
      document.documentElement.style.setProperty("--font-mono", "monospace");
    }
    if (localStorage.getItem("mementory.blur") === "on") document.documentElement.dataset.blur = "on";
    if (localStorage.getItem("mementory.motion") === "less") document.documentElement.dataset.motion = "less";
  } catch (error) {
    /* Without storage, the system's settings apply. */
  }
})();
