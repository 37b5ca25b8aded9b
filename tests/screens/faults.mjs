// What was found on the way through the screens.

/** Faults, each with the places that it was found on: one line for a fault, however often it shows. */
export class Faults {
  #found = new Map();

  add(list, where) {
    for (const what of list) this.#found.set(what, (this.#found.get(what) ?? new Set()).add(where));
  }

  get none() {
    return this.#found.size === 0;
  }

  /** Print them, with so many places of each. */
  say(kind, most = Infinity) {
    for (const [what, places] of this.#found)
      console.log(`  ${kind}: ${what}\n    on ${[...places].slice(0, most).join("; ")}`);
  }
}
