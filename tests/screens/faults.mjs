// Collects the faults found on screens.

/** Faults with the places where they were found: one line for each fault. */
export class Faults {
  #found = new Map();

  add(list, where) {
    for (const what of list) this.#found.set(what, (this.#found.get(what) ?? new Set()).add(where));
  }

  get isEmpty() {
    return this.#found.size === 0;
  }

  /** Print them, each with at most `most` places. */
  print(kind, most = Infinity) {
    for (const [what, places] of this.#found)
      console.log(`  ${kind}: ${what}\n    on ${[...places].slice(0, most).join("; ")}`);
  }
}
