import { Tooltip } from "bits-ui";

/** The content of the tooltip for one trigger. */
export type TooltipPayload = { text: string; keys: string | undefined; side: "top" | "right" | "bottom" };

/** Connects the single tooltip with its triggers, so that a thousand rows do not create a thousand tooltips. */
export const tooltipTether = Tooltip.createTether<TooltipPayload>();
