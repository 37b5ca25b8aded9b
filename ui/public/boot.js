// Sets theme, text size, language, blur and motion before the first paint, so that nothing flashes. The keys are those of
// src/lib/state/appearance.svelte.ts.
(function () {
  try {
    var theme = localStorage.getItem("mementory.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    var language = localStorage.getItem("mementory.language");
    if (language) document.documentElement.lang = language;
    var size = localStorage.getItem("mementory.text-size");
    if (size) document.documentElement.dataset.textSize = size;
    if (localStorage.getItem("mementory.blur") === "on") document.documentElement.dataset.blur = "on";
    if (localStorage.getItem("mementory.motion") === "less") document.documentElement.dataset.motion = "less";
  } catch (error) {
    /* Without storage, the system's settings apply. */
  }
})();
