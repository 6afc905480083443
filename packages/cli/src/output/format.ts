import { BadInput } from "../errors.ts";
import type { Terminal } from "../terminal.ts";

export const formats = ["auto", "human", "agent", "json", "quiet"] as const;
/** How a command answers: to people, to agents (rows with tabs), to programs (JSON), or with ids alone. */
export type Format = Exclude<(typeof formats)[number], "auto">;

export type FormatOptions = { format?: string; json?: boolean; quiet?: boolean };

/** `auto`: people sit in front of terminals; what reads a pipe is a program. */
export function chosenFormat({ format, json, quiet }: FormatOptions, { stdout }: Pick<Terminal, "stdout">): Format {
  // `audit export --format jsonl` names a file's form.
  const named = formats.find((one) => one === format);
  const asked = new Set([...(named ? [named] : []), ...(json ? ["json" as const] : []), ...(quiet ? ["quiet" as const] : [])]);
  if (asked.size > 1) throw new BadInput(`Choose one output format: ${[...asked].join(" and ")} were asked for.`);
  const [one = "auto"] = asked;
  if (one !== "auto") return one;
  return stdout.isTTY ? "human" : "agent";
}
