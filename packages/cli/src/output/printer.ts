import { BadInput } from "../errors.ts";
import type { Terminal } from "../terminal.ts";

type Cell = string | number | boolean | null | undefined | readonly string[];
/** Values by the names of their columns, in order. `quiet` prints only the first value. */
export type Row = Record<string, Cell>;

const TERMINAL_WIDTH = 80;

export type Printer = ReturnType<typeof createPrinter>;

export function createPrinter(
  { stdout, stderr, env }: Terminal,
  { format, isCutAllowed = true }: { format: Format; isCutAllowed?: boolean },
) {
  // NO_COLOR counts if it is set to any text but the empty one (https://no-color.org).
  const hasColor = Boolean(stderr.isTTY) && !env.NO_COLOR && env.TERM !== "dumb";
  const out = (text: string) => void stdout.write(`${text}\n`);
  // Messages may contain text from the service or from users, so control characters are escaped.
  const note = (text: string) => void stderr.write(`${visibleLines(text)}\n`);
  const json = (value: unknown, indent?: number) => out(visibleJson(value, indent));
  const outAll = (lines: readonly string[]): void => {
    if (lines.length > 0) out(lines.join("\n"));
  };
  let isHeaderOut = false;

  return {
    format,
    note(text: string): void {
      if (format !== "quiet") note(text);
    },
    /** Prints a message that every format must show, such as a secret that is shown only once. */
    always: note,
    hint(text: string): void {
      if (format === "human") stderr.write(hasColor ? `\u001b[2m${visibleLines(text)}\u001b[0m\n` : `${visibleLines(text)}\n`);
    },

    list(rows: readonly Row[], { items = rows }: { items?: readonly unknown[] } = {}): void {
      if (format === "json") json(items);
      else if (format === "quiet") outAll(rows.map((row) => visible(textOf(Object.values(row)[0]))));
      else if (!rows[0]) out("No results found.");
      else if (format === "agent") outAll([Object.keys(rows[0]), ...cellsOf(rows, textOf)].map((line) => line.join("\t")));
      else {
        const width = isCutAllowed && stdout.isTTY ? stdout.columns || TERMINAL_WIDTH : Number.POSITIVE_INFINITY;
        const { lines, isCut } = table(Object.keys(rows[0]), cellsOf(rows, humanText), width);
        outAll(lines);
        if (isCut) this.hint("Some values were shortened: --no-truncate or --format json shows all of them.");
      }
    },

    /** Prints a row without padding, because the next rows are unknown. */
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

    /** Prints JSON in every format: indented for people, without nulls for programs. */
    record(value: object): void {
      if (format === "human") json(value, 2);
      else json(withoutNulls(value));
    },

    done(message: string, facts: Row): void {
      const given = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null);
      const texts = given.map(([name, value]) => [name, visible(textOf(value))] as const);
      if (format === "json") json(Object.fromEntries(given));
      else if (format === "human") outAll([visible(message), ...texts.map(([name, value]) => `${name}: ${value}`)]);
      else if (format === "quiet") out(texts[0]?.[1] ?? "");
      else out(texts.map(([name, value]) => `${name}=${value}`).join(" ") || visible(message));
    },

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

export const formats = ["auto", "human", "agent", "json", "quiet"] as const;
/** Output for people, for agents (rows with tabs), for programs (JSON), or only IDs. */
export type Format = Exclude<(typeof formats)[number], "auto">;

export type FormatOptions = { format?: string; json?: boolean; quiet?: boolean };

export function chosenFormat({ format, json, quiet }: FormatOptions, { stdout }: Pick<Terminal, "stdout">): Format {
  // Other values are ignored, because `audit export --format jsonl` names the format of a file.
  const named = formats.find((one) => one === format);
  const asked = new Set([...(named ? [named] : []), ...(json ? ["json" as const] : []), ...(quiet ? ["quiet" as const] : [])]);
  if (asked.size > 1) throw new BadInput(`Choose one output format, not ${[...asked].join(" and ")}.`);
  const [one = "auto"] = asked;
  if (one !== "auto") return one;
  return stdout.isTTY ? "human" : "agent";
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

const segmenter = new Intl.Segmenter();
const characters = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);
const widthOf = (character: string): number => (WIDE.test(character) ? 2 : 1);
export const displayWidth = (text: string): number => characters(text).reduce((sum, one) => sum + widthOf(one), 0);

/** Cuts the widest columns, but never below the width of their headers. @returns the lines, and whether something was cut */
export function table(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): { lines: string[]; isCut: boolean } {
  const titles = headers.map((header) => header.toUpperCase());
  const caps = titles.map((title, at) => Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[at] ?? ""))));
  const least = titles.map((title) => Math.max(displayWidth(title), 4));
  const room = width - 2 * (caps.length - 1);
  for (let over = caps.reduce((sum, one) => sum + one, 0) - room; over > 0; over -= 1) {
    let widest = -1;
    caps.forEach((cap, at) => {
      if (cap > (least[at] ?? 0) && cap > (caps[widest] ?? 0)) widest = at;
    });
    if (widest < 0) break;
    caps[widest] = (caps[widest] ?? 0) - 1;
  }
  let isCut = false;
  const line = (cells: readonly string[]) =>
    caps
      .map((cap, at) => {
        const cell = cells[at] ?? "";
        const shown = cut(cell, cap);
        if (shown !== cell) isCut = true;
        return shown + " ".repeat(Math.max(0, cap - displayWidth(shown)));
      })
      .join("  ")
      .trimEnd();
  return { lines: [titles, ...rows].map(line), isCut };
}

export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let shown = "";
  let used = 0;
  for (const one of characters(text)) {
    used += widthOf(one);
    if (used > width - 1) break;
    shown += one;
  }
  return `${shown}…`;
}

/** Characters that a terminal would obey, or that hide text. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
export function visible(text: string): string {
  return text.replace(/\s+/g, " ").trim().replace(OBEYED, escaped);
}

export function visibleLines(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(OBEYED, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

/** `JSON.stringify` escapes only characters below the space, but terminals obey others too. */
export function visibleJson(value: unknown, indent?: number): string {
  const text: string = JSON.stringify(value, null, indent);
  return text.replace(OBEYED, (character) => (character === "\n" ? character : character.split("").map(codeUnit).join("")));
}

const codeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

export const quotedForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
