import { vi } from "vitest";

// Defines browser features that the DOM of the tests lacks.
class Observer {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("ResizeObserver", globalThis.ResizeObserver ?? Observer);
Element.prototype.scrollIntoView ??= () => undefined;
Element.prototype.getAnimations ??= () => [];
