import type { Terminal } from "../terminal.ts";
import type { Format } from "./format.ts";
import { table } from "./table.ts";
import { visible, visibleJson, visibleLines } from "./visible.ts";

type Cell = string | number | boolean | null | undefined | readonly string[];
/** A row by its columns, in their order. The first is what `quiet` prints. */
export type Row = Record<string, Cell>;

const TERMINAL_WIDTH = 80;

/** What commands say, in the format that was asked for. Answers go to stdout, and all that is about them to stderr. */
export type Printer = ReturnType<typeof createPrinter>;

export function createPrinter(
  { stdout, stderr, env }: Terminal,
  { format, isCutAllowed = true }: { format: Format; isCutAllowed?: boolean },
) {
  // https://no-color.org: set and not empty, whatever to.
  const hasColour = Boolean(stderr.isTTY) && !env.NO_COLOR && env.TERM !== "dumb";
  const out = (text: string) => void stdout.write(`${text}\n`);
  // Sentences have in them what the service says, or others say by it: names, addresses, reasons.
  const note = (text: string) => void stderr.write(`${visibleLines(text)}\n`);
  const json = (value: unknown, indent?: number) => out(visibleJson(value, indent));
  const outAll = (lines: readonly string[]): void => {
    if (lines.length > 0) out(lines.join("\n"));
  };
  let isHeaderOut = false;

  return {
    format,
    /** Something for people, beside the answer. */
    note(text: string): void {
      if (format !== "quiet") note(text);
    },
    /** What has to be seen whatever the format: a secret that is shown once. */
    always: note,
    /** Dimmed, where colours are wanted. */
    hint(text: string): void {
      if (format === "human") stderr.write(hasColour ? `\u001b[2m${visibleLines(text)}\u001b[0m\n` : `${visibleLines(text)}\n`);
    },

    /** @param items what `json` has in the place of the rows */
    list(rows: readonly Row[], { items = rows }: { items?: readonly unknown[] } = {}): void {
      if (format === "json") json(items);
      else if (format === "quiet") outAll(rows.map((row) => visible(textOf(Object.values(row)[0]))));
      else if (!rows[0]) out("No results found.");
      else if (format === "agent") outAll([Object.keys(rows[0]), ...cellsOf(rows, textOf)].map((line) => line.join("\t")));
      else {
        const width = isCutAllowed && stdout.isTTY ? stdout.columns || TERMINAL_WIDTH : Number.POSITIVE_INFINITY;
        const { lines, isCut } = table(Object.keys(rows[0]), cellsOf(rows, humanText), width);
        outAll(lines);
        if (isCut) this.hint("Values were cut: --no-truncate or --format json shows them whole.");
      }
    },

    /** One row of a list that has no end: without padding that would have to know the rows to come. */
    row(row: Row, { item = row }: { item?: unknown } = {}): void {
      const [human = [], plain = []] = [...cellsOf([row], humanText), ...cellsOf([row], textOf)];
      if (format === "json") json(item);
      else if (format === "quiet") out(plain[0] ?? "");
      else if (format === "human") out(human.filter(Boolean).join("  "));
      else {
        if (!isHeaderOut) out(Object.keys(row).join("\t"));
        isHeaderOut = true;
        out(plain.join("\t"));
      }
    },

    /** One thing, as JSON in every format: indented for people, without what is null for programs. */
    record(value: object): void {
      if (format === "human") json(value, 2);
      else json(withoutNulls(value));
    },

    /** What was done, and to what. `quiet` prints the first of `facts`. */
    done(message: string, facts: Row): void {
      const given = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null);
      const texts = given.map(([name, value]) => [name, visible(textOf(value))] as const);
      if (format === "json") json(Object.fromEntries(given));
      else if (format === "human") outAll([visible(message), ...texts.map(([name, value]) => `${name}: ${value}`)]);
      else if (format === "quiet") out(texts[0]?.[1] ?? "");
      else out(texts.map(([name, value]) => `${name}=${value}`).join(" ") || visible(message));
    },

    /** Lines, in every format. */
    raw: (text: string): void => out(visibleLines(text)),
  };
}

const cellsOf = (rows: readonly Row[], text: (value: Cell) => string): string[][] =>
  rows.map((row) => Object.values(row).map((value) => visible(text(value))));

const textOf = (value: Cell): string => (Array.isArray(value) ? value.join(",") : String(value ?? ""));

function humanText(value: Cell): string {
  if (value === false) return "";
  if (value === true) return "yes";
  if (Array.isArray(value)) return value.join(", ");
  // Whole seconds are enough to look at.
  return typeof value === "string"
    ? value.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/, "$1 $2")
    : String(value ?? "");
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null && one !== undefined)
      .map(([name, one]) => [name, withoutNulls(one)]),
  );
}
