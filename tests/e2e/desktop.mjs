// A private session bus on which the tests act as the desktop.
import { spawn } from "node:child_process";
import { ENV, quiet } from "../tools/sh.mjs";
import { until } from "./webdriver.mjs";

/** A private session bus on which we act as the desktop. */
export class Desktop {
  #daemon;
  #monitor;
  #seen = "";
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

  /** Starts to record the messages on the bus, including those that nobody answers. */
  async watch() {
    this.#monitor = spawn("dbus-monitor", ["--address", this.address], {
      env: ENV,
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#monitor.stdout.on("data", (bytes) => (this.#seen += bytes));
    await until("the bus to be watched", () => this.#seen.includes("NameLost"));
  }

  /**
   * The recorded messages that call this method or send this signal. Each is the text that dbus-monitor printed, with
   * its values.
   */
  messages(member) {
    const isHead = (line) => /^(?:method call|method return|signal|error) /.test(line);
    const messages = [];
    for (const line of this.#seen.split("\n")) {
      if (isHead(line)) messages.push(line);
      else if (messages.length > 0) messages[messages.length - 1] += `\n${line}`;
    }
    return messages.filter((message) => message.split("\n")[0].endsWith(`member=${member}`));
  }

  stop() {
    this.#monitor?.kill();
    this.#daemon.kill();
  }
}
