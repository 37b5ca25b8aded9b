import { vi } from "vitest";

// Browser features that the test DOM lacks.
class Observer {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("ResizeObserver", globalThis.ResizeObserver ?? Observer);
Element.prototype.scrollIntoView ??= () => undefined;
Element.prototype.getAnimations ??= () => [];
