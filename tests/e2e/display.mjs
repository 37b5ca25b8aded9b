// A private X display with a window manager, WebDriver servers, and real drag and drop.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ENV, quiet } from "../tools/sh.mjs";
import { until } from "./webdriver.mjs";

const SCREEN_GEOMETRY = "1600x1000x24";
/** The app's identifier in tauri.conf.json, which is also the name of the folder with its settings. */
const IDENTIFIER = "app.mementory.desktop";
const DRAG_SOURCE_SCRIPT = fileURLToPath(new URL("drag_source.py", import.meta.url));
/** Position of the drag source's window: right of the app, which starts at the left edge. */
const DRAG_X = 1400;
const DRAG_Y = 400;
/** Half the width, and half the height, of the drag source's window. */
const DRAG_HALF = 60;

/**
 * Makes, inside the temporary folder `home`, all folders that programs write to. Returns the environment variables that
 * name them.
 */
export function homeIn(home) {
  const folder = (name) => {
    mkdirSync(join(home, name), { recursive: true, mode: 0o700 });
    return join(home, name);
  };
  const config = folder("config");
  // The font that the design uses, so that pictures can be compared.
  mkdirSync(join(config, "gtk-3.0"));
  writeFileSync(join(config, "gtk-3.0", "settings.ini"), "[Settings]\ngtk-font-name=Inter 11\n");
  return {
    HOME: home,
    XDG_CONFIG_HOME: config,
    XDG_DATA_HOME: folder("data"),
    XDG_CACHE_HOME: folder("cache"),
    XDG_RUNTIME_DIR: folder("run"),
    TMPDIR: folder("tmp"),
  };
}

/**
 * Like `homeIn`, and also makes the vaults at `paths` the recent vaults, newest first. The window then starts with the
 * unlock screen of the first vault.
 */
export function homeWithRecentVaults(home, ...paths) {
  const folders = homeIn(home);
  const settings = join(folders.XDG_CONFIG_HOME, IDENTIFIER);
  mkdirSync(settings);
  writeFileSync(join(settings, "settings.json"), JSON.stringify({ recent: paths }));
  // The data folder of the command line that made the vault. The app finds the list of erasures in it.
  return { ...folders, MEMENTORY_DATA_DIR: `${paths[0]}.data` };
}

/** A display and the programs that were started on it. They are ended together. */
export class Display {
  #children = [];
  #env;

  /**
   * Starts a display. `env` is added to the environment of every program. If `spoken` is true, programs publish their
   * accessibility tree on the session bus of this process. Otherwise they use the bus at the address `bus`, or no bus
   * by default.
   */
  static async start(env, { spoken = false, bus = "disabled:" } = {}) {
    const display = new Display();
    process.once("exit", () => display.stop());
    const server = display.#spawn("Xvfb", ["-displayfd", "3", "-screen", "0", SCREEN_GEOMETRY, "-nolisten", "tcp"], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    let number = "";
    server.stdio[3].on("data", (bytes) => (number += bytes));
    await until("a display", () => number.includes("\n"));
    display.#env = {
      ...ENV,
      ...env,
      DISPLAY: `:${number.trim()}`,
      GDK_BACKEND: "x11",
      ...(spoken
        ? { DBUS_SESSION_BUS_ADDRESS: process.env.DBUS_SESSION_BUS_ADDRESS }
        : { NO_AT_BRIDGE: "1", DBUS_SESSION_BUS_ADDRESS: bus }),
    };
    delete display.#env.WAYLAND_DISPLAY;
    display.#spawn("openbox", []);
    await until("the window manager", () => display.#xdotool("get_num_desktops").code === 0);
    return display;
  }

  /** The display's name, as in the environment variable `DISPLAY`. */
  get name() {
    return this.#env.DISPLAY;
  }

  /** Starts the WebDriver server; returns its address. */
  async driver() {
    const [port, native] = [await freePort(), await freePort()];
    this.#spawn("tauri-driver", ["--port", `${port}`, "--native-port", `${native}`], {
      env: { ...this.#env, TAURI_WEBVIEW_AUTOMATION: "true" },
    });
    const address = `http://127.0.0.1:${port}`;
    await until("the WebDriver server", async () => (await fetch(`${address}/status`)).ok);
    return address;
  }

  /** Starts WebKit's WebDriver server, for a browser with the same engine as the app; returns its address. */
  async webKitDriver() {
    const port = await freePort();
    this.#spawn("WebKitWebDriver", [`--port=${port}`, "--host=127.0.0.1"]);
    const address = `http://127.0.0.1:${port}`;
    await until("the WebDriver server", async () => (await fetch(`${address}/status`)).ok);
    return address;
  }

  /** Moves the app's window to the top left corner, so that it does not cover the drag source. Returns its id. */
  async moveToCorner(title) {
    const id = await until(
      `a window called ${title}`,
      () => this.#xdotool("search", "--name", `^${title}$`).stdout.split("\n")[0],
    );
    this.#xdotool("windowmove", id, "0", "0");
    this.#xdotool("windowactivate", id);
    return id;
  }

  /** Resizes the app's window. */
  resize(id, width, height) {
    this.#xdotool("windowsize", id, `${width}`, `${height}`);
  }

  /** Moves the app's window. */
  move(id, x, y) {
    this.#xdotool("windowmove", id, `${x}`, `${y}`);
  }

  /** Minimises the app's window, which is then not in front any more. */
  minimize(id) {
    this.#xdotool("windowminimize", id);
  }

  /** The id of the visible window with this title. An empty text if there is none. */
  windowCalled(title) {
    return this.#xdotool("search", "--onlyvisible", "--name", `^${title}$`).stdout.split("\n")[0];
  }

  /** Place and size of a window. */
  place(id) {
    const lines = this.#xdotool("getwindowgeometry", "--shell", id).stdout.split("\n");
    const values = Object.fromEntries(lines.filter(Boolean).map((line) => line.split("=")));
    return { x: Number(values.X), y: Number(values.Y), width: Number(values.WIDTH), height: Number(values.HEIGHT) };
  }

  /**
   * Drags files from another window to `x`,`y` of the screen. The button is released once `over()` is true, which means
   * that the app has noticed the drag.
   */
  async drop(files, x, y, over) {
    const source = this.#spawn("/usr/bin/python3", [DRAG_SOURCE_SCRIPT, `${DRAG_X}`, `${DRAG_Y}`, ...files], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    source.stdout.on("data", (bytes) => (output += bytes));
    await until("the drag source", () => output.includes("ready"));
    let [atX, atY] = [DRAG_X + DRAG_HALF, DRAG_Y + DRAG_HALF];
    const move = (toX, toY) => this.#xdotool("mousemove", `${Math.round(toX)}`, `${Math.round(toY)}`);

    // The window may still be moving to its position, so press the button again until a drag begins.
    await until("the drag to begin", async () => {
      move(atX, atY);
      this.#xdotool("mousedown", "1");
      let step = 0;
      const dragged = () => {
        move(atX - (++step % 8) * 6, atY);
        return output.includes("began");
      };
      return until("the drag source to let go", dragged, 2000).catch((error) => {
        this.#xdotool("mouseup", "1");
        throw error;
      });
    });
    // Move in small steps like a hand does, because the program under the pointer notices the drag by its motion.
    const steps = 25;
    const [fromX, fromY] = [atX, atY];
    for (let step = 1; step <= steps; step++) {
      [atX, atY] = [fromX + ((x - fromX) * step) / steps, fromY + ((y - fromY) * step) / steps];
      move(atX, atY);
    }
    let wiggle = 0;
    await until("the app to notice the drag", async () => {
      move(x + (wiggle++ % 2), y);
      return over();
    });
    this.#xdotool("mouseup", "1");
    await until("the drag to end", () => output.includes("ended"));
    source.kill();
  }

  /**
   * Waits until the web processes of a closed window in this home have ended, because these processes outlive the
   * window and may still write.
   */
  waitForWebProcesses(home) {
    const isOfHome = (pid) => {
      try {
        return (
          /^WebKit(Net|WebPro)/.test(readFileSync(`/proc/${pid}/comm`, "utf8")) &&
          readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`HOME=${home}`)
        );
      } catch {
        return false; // the process has just ended
      }
    };
    return until(
      "the web processes to be gone",
      () => !readdirSync("/proc").some((n) => /^\d+$/.test(n) && isOfHome(n)),
    );
  }

  /** Starts a program without a driver, and waits for its window. Returns the process. */
  async open(program, args, title) {
    const child = this.#spawn(program, args);
    await this.moveToCorner(title);
    return child;
  }

  /** Starts a program that ends by itself. Resolves to its exit code when it has ended. */
  run(program, args) {
    const child = this.#spawn(program, args);
    return new Promise((resolve) => child.on("close", (code) => resolve(code ?? "a signal")));
  }

  /** Starts a program without a driver, and leaves its window where it opens. Returns the process. */
  start(program) {
    return this.#spawn(program, []);
  }

  /** Types a text into the active window, then presses a key such as `Return`. */
  type(text, key) {
    this.#xdotool("type", "--delay", "40", text);
    this.#xdotool("key", key);
  }

  /** Closes the active window as a person would. */
  closeWindow() {
    this.#xdotool("key", "alt+F4");
  }

  /** Starts a program without a driver, waits for its window and closes it as a person would. Returns the exit code. */
  async openAndClose(program, title) {
    // The window of an earlier run disappears a moment after its program was killed.
    await until("the earlier window to be gone", () => this.#xdotool("search", "--name", `^${title}$`).stdout === "");
    const child = this.#spawn(program, []);
    const exit = new Promise((resolve) => child.on("close", resolve));
    const id = await this.moveToCorner(title);
    let code;
    exit.then((value) => (code = value ?? "a signal"));
    // The window manager may miss the first keystroke while it is still busy with the new window.
    await until("the program to end", () => {
      if (code !== undefined) return true;
      if (this.#xdotool("getactivewindow").stdout.trim() === id) this.#xdotool("key", "alt+F4");
      return false;
    });
    return code;
  }

  /** Ends all programs, the last one first. */
  stop() {
    for (const child of this.#children.reverse()) child.kill();
  }

  /**
   * Ends all programs and removes the folder that they wrote to. Killed programs may still write for a moment, as
   * WebKit does with its caches, so removing is repeated until the folder is gone.
   */
  stopAndRemove(home) {
    this.stop();
    return until(`${home} to be removed`, () => {
      rmSync(home, { recursive: true, force: true });
      return !existsSync(home);
    });
  }

  #spawn(program, args, options = {}) {
    const child = spawn(program, args, { env: this.#env ?? ENV, stdio: "ignore", ...options });
    child.on("error", (error) => console.error(`${program}: ${error.message}`));
    this.#children.push(child);
    return child;
  }

  #xdotool(...args) {
    return quiet("xdotool", args, { env: this.#env });
  }
}

/** A port of this machine that nothing listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
