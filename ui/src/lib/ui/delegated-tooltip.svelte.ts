import { tooltipTether } from "./tooltip-tether";

let containerCount = 0;

/**
 * Returns a Svelte attachment that shows the window's tooltip for those elements in a container that match `selector`,
 * so that these elements need not be tooltip components. `text` returns the tooltip of an element. On hover the tooltip
 * opens after the usual delay, and on keyboard focus at once.
 */
export function delegatedTooltip(selector: string, text: (target: HTMLElement) => string) {
  return (container: HTMLElement): (() => void) => {
    const id = `pointed-${(containerCount += 1)}`;
    const { state } = tooltipTether;
    let active = $state.raw<HTMLElement | null>(null);
    let hoveredTarget: HTMLElement | null = null;

    const tooltipTarget = (target: EventTarget | null) =>
      target instanceof Element ? target.closest<HTMLElement>(selector) : null;

    // Only one element at a time is registered with the tooltip, because a text may contain a thousand matching
    // elements.
    function registerTarget(target: HTMLElement) {
      if (target !== active) active?.removeAttribute("id");
      target.id = id;
      active = target;
      state.registry.register({
        id,
        node: target,
        payload: { text: text(target), keys: undefined, side: "bottom" },
        disabled: false,
      });
    }

    function showFor(target: HTMLElement | null) {
      if (target === hoveredTarget) return;
      hoveredTarget = target;
      if (target) {
        registerTarget(target);
        state.root?.onTriggerEnter(id);
      } else if (state.root?.isActiveTrigger(id)) state.root.onTriggerLeave();
    }

    function openOnFocus(target: HTMLElement | null) {
      const { root } = state;
      if (!target || !root || !target.matches(":focus-visible")) return;
      registerTarget(target);
      root.setActiveTrigger(id);
      root.openedViaFocus = true;
      root.handleOpen();
      root.provider.ignoreFocusScroll();
    }

    function close() {
      if (state.root?.isActiveTrigger(id)) state.root.handleClose();
    }

    $effect(() => {
      const { root } = state;
      const tooltipId = root?.opts.open.current && root.isActiveTrigger(id) ? root.contentNode?.id : undefined;
      const target = active;
      if (!target || !tooltipId) return;
      target.setAttribute("aria-describedby", tooltipId);
      return () => target.removeAttribute("aria-describedby");
    });

    const listenerAbort = new AbortController();
    const listen = <K extends keyof HTMLElementEventMap>(name: K, listener: (event: HTMLElementEventMap[K]) => void) =>
      container.addEventListener(name, listener, { signal: listenerAbort.signal, passive: true });
    listen("pointerover", (event) => event.pointerType !== "touch" && showFor(tooltipTarget(event.target)));
    listen("pointerleave", () => showFor(null));
    listen("pointerdown", close);
    listen("focusin", (event) => openOnFocus(tooltipTarget(event.target)));
    listen("focusout", close);
    return () => {
      listenerAbort.abort();
      close();
      state.registry.unregister(id);
    };
  };
}
