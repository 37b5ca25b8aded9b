// Collects the faults found on screens.

/** A set of faults. Each fault is stored with the places where it was found. */
export class Faults {
  #found = new Map();

  add(list, where) {
    for (const what of list) this.#found.set(what, (this.#found.get(what) ?? new Set()).add(where));
  }

  get isEmpty() {
    return this.#found.size === 0;
  }

  /** Prints the faults, each with at most `maxPlaces` of its places. */
  print(kind, maxPlaces = Infinity) {
    for (const [what, places] of this.#found)
      console.log(`  ${kind}: ${what}\n    on ${[...places].slice(0, maxPlaces).join("; ")}`);
  }
}
