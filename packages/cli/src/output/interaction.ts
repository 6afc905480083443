import { createInterface } from "node:readline/promises";
import { BadInput, Refused } from "../errors.ts";
import { isInteractive, type Terminal } from "../terminal.ts";
import type { Format } from "./printer.ts";
import { visible } from "./printer.ts";

export async function ask(terminal: Terminal, format: Format, question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (format !== "human" || !isInteractive(terminal)) throw new Refused(`${question} Add --yes to confirm.`);
  const answer = await readLine(terminal, `${visible(question)} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Refused("Nothing was changed.");
}

async function readLine({ stdin, stderr, signal }: Terminal, prompt: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  try {
    stderr.write(prompt);
    const line = await Promise.race([
      lines[Symbol.asyncIterator]().next(),
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    ]);
    return String(line.value ?? "");
  } finally {
    lines.close();
  }
}

/** `-` stands for a line of standard input, because an argument is visible in the list of processes. */
export async function secretOf(terminal: Terminal, given: string | undefined): Promise<string | undefined> {
  if (given !== "-") return given;
  const secret = await readLine(terminal, terminal.stdin.isTTY ? "The webhook's secret: " : "");
  if (secret === "") throw new BadInput("Standard input contains no secret.");
  return secret;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PATIENCE_MS = 1_000;
const FRAME_MS = 100;

export type Spinner = { update: (text: string) => void; stop: () => void };

export function startSpinner({ stderr, env }: Terminal, format: Format, text: string): Spinner {
  if (!stderr.isTTY || format !== "human" || env.TERM === "dumb") return { update: () => undefined, stop: () => undefined };
  let shown = text;
  let frame = 0;
  const draw = () => {
    frame += 1;
    stderr.write(`\r\u001b[K${FRAMES[frame % FRAMES.length]} ${shown}`);
  };
  let timer = setTimeout(() => {
    draw();
    timer = setInterval(draw, FRAME_MS);
  }, PATIENCE_MS);
  return {
    update(next) {
      shown = next;
    },
    stop() {
      clearTimeout(timer);
      if (frame > 0) stderr.write("\r\u001b[K");
      frame = 0;
    },
  };
}
