import { createInterface } from "node:readline/promises";
import { Refused } from "../errors.ts";
import { isInteractive, type Terminal } from "../terminal.ts";
import type { Format } from "./format.ts";
import { visible } from "./visible.ts";

/** @throws Refused where the answer is no, or nobody is there to give one */
export async function ask(terminal: Terminal, format: Format, question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (format !== "human" || !isInteractive(terminal))
    throw new Refused(`${question} Nobody can be asked here: add --yes to go on.`);
  const { stdin, stderr, signal } = terminal;
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  try {
    stderr.write(`${visible(question)} [y/N] `);
    const answer = await Promise.race([
      lines[Symbol.asyncIterator]().next(),
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    ]);
    if (/^y(es)?$/i.test(String(answer.value ?? "").trim())) return;
    throw new Refused("Nothing was done.");
  } finally {
    lines.close();
  }
}
