// A private session bus, so that a test does not use the desktop of the person who runs it.
import { spawn } from "node:child_process";
import { ENV, quiet } from "../tools/sh.mjs";
import { until } from "./webdriver.mjs";

/** A private session bus on which we act as the desktop. */
export class Desktop {
  #daemon;
  address = "";

  static async start() {
    const desktop = new Desktop();
    desktop.#daemon = spawn("dbus-daemon", ["--session", "--nofork", "--print-address"], {
      env: ENV,
      stdio: ["ignore", "pipe", "ignore"],
    });
    process.once("exit", () => desktop.stop());
    let output = "";
    desktop.#daemon.stdout.on("data", (bytes) => (output += bytes));
    await until("a bus", () => output.includes("\n"));
    desktop.address = output.trim();
    return desktop;
  }

  /** Announces that the screen was locked, or unlocked again. Returns whether the signal was sent. */
  announce(locked) {
    const signal = ["/org/gnome/ScreenSaver", "org.gnome.ScreenSaver.ActiveChanged", `boolean:${locked}`];
    return quiet("dbus-send", [`--bus=${this.address}`, "--type=signal", ...signal]).code === 0;
  }

  stop() {
    this.#daemon.kill();
  }
}
