// The window opens with the size and at the place where it was closed.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { built } from "../tools/places.mjs";
import { Display, homeIn } from "./display.mjs";
import { until } from "./webdriver.mjs";

const TITLE = "Mementory";
/** Size and position of the window: smaller than a new window, larger than the minimum size, and inside the display. */
const [WIDTH, HEIGHT, X, Y] = [1100, 700, 240, 130];

export async function testWindowPlace(count) {
  const home = mkdtempSync(join(tmpdir(), "mementory-placing-"));
  const folders = homeIn(home);
  const display = await Display.start(folders);
  const storedWindow = () =>
    JSON.parse(readFileSync(join(folders.XDG_CONFIG_HOME, "app.mementory.desktop", "settings.json"), "utf8")).window;
  const close = async (child) => {
    await until("the window to close", () => {
      if (child.exitCode !== null) return true;
      display.closeWindow();
      return false;
    });
  };
  try {
    const firstWindow = await display.open(built("mementory-app"), [], TITLE);
    // A window has its title before it is visible.
    const id = await until("the window to be visible", () => display.windowCalled(TITLE));
    // The move is repeated, because on a slow machine a window that is still opening may undo it.
    const closedAt = await until("the window to be moved", () => {
      const place = display.place(id);
      if (place.width === WIDTH && place.height === HEIGHT && Math.abs(place.x - X) < 50) return place;
      display.resize(id, WIDTH, HEIGHT);
      display.move(id, X, Y);
      return false;
    });
    await close(firstWindow);
    count.add(
      "the size and place of the window are stored",
      storedWindow()?.width === WIDTH && storedWindow()?.height === HEIGHT,
    );

    const secondWindow = display.start(built("mementory-app"));
    const openedAt = await until("the window to open again", () => {
      const windowId = display.windowCalled(TITLE);
      const place = windowId && display.place(windowId);
      return place?.width === WIDTH && place;
    });
    count.add("the window opens with its stored size", openedAt.height === HEIGHT);
    // One of the two positions may include the frame of the window manager.
    const isNear = (a, b) => Math.abs(a - b) <= 40;
    count.add("the window opens at its stored place", isNear(openedAt.x, closedAt.x) && isNear(openedAt.y, closedAt.y));
    await close(secondWindow);
  } catch (error) {
    console.log(`  ${error.message}`);
    count.add("the test of the window's place runs to its end", false);
  } finally {
    await display.stopAndRemove(home);
  }
}
