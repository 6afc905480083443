import type { Terminal } from "../terminal.ts";
import type { Format } from "./format.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** What is over sooner needs no telling. */
const PATIENCE_MS = 1_000;
const FRAME_MS = 100;

export type Spinner = { update: (text: string) => void; stop: () => void };

/** Says on stderr what takes its time, once it has taken a second, to somebody who sits in front of it. */
export function startSpinner({ stderr, env }: Terminal, format: Format, text: string): Spinner {
  if (!stderr.isTTY || format !== "human" || env.TERM === "dumb") return { update: () => undefined, stop: () => undefined };
  let said = text;
  let frame = 0;
  const draw = () => {
    frame += 1;
    stderr.write(`\r\u001b[K${FRAMES[frame % FRAMES.length]} ${said}`);
  };
  let timer = setTimeout(() => {
    draw();
    timer = setInterval(draw, FRAME_MS);
  }, PATIENCE_MS);
  return {
    update(next) {
      said = next;
    },
    stop() {
      clearTimeout(timer);
      if (frame > 0) stderr.write("\r\u001b[K");
      frame = 0;
    },
  };
}
