import { Tooltip } from "bits-ui";

/** What the tooltip says of the thing that asked for it. */
export type TooltipPayload = { text: string; keys: string | undefined; side: "top" | "right" | "bottom" };

/** Between the one tooltip and everything that has one: a list of a thousand rows does not make a thousand of them. */
export const tooltipTether = Tooltip.createTether<TooltipPayload>();
