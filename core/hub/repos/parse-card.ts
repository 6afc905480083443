import type { RepoType } from "@keyhook/sdk";
import {
  type DocumentOptions,
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  type ParseOptions,
  parseDocument,
  type SchemaOptions,
  visit,
  type YAMLMap,
} from "yaml";
import { errorsOfValues } from "./check-card-values.ts";
import { FRONT_MATTER_MAX_CHARACTERS } from "./front-matter.ts";

// Runs only in a subprocess, because a hostile text can keep any YAML parser busy.

export type CardCheck = { errors: string[]; warnings: string[] };

/** Aliases can make a text thirty times as long. */
const CARD_MAX_CHARACTERS = 2 * FRONT_MATTER_MAX_CHARACTERS;
/** The parser searches the whole text for each alias. */
const ALIASES_MAX = 100;
const MESSAGES_MAX = 20;
const MESSAGE_MAX_CHARACTERS = 500;

// Unique keys or pretty errors would make the parser take quadratic time.
const yamlOptions = {
  schema: "core",
  uniqueKeys: false,
  prettyErrors: false,
} as const satisfies ParseOptions & DocumentOptions & SchemaOptions;

export function parseCard(yaml: string): Record<string, unknown> | null {
  try {
    const document = parseDocument(yaml, yamlOptions);
    if (document.errors.length > 0) return null;
    const value = plainValue(document);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return JSON.parse(JSON.stringify(value).replace(ESCAPE, storable)) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** `JSON.stringify` escapes a surrogate only if the other half of its pair is missing. */
const ESCAPE = /\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g;
/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
const storable = (found: string): string => (found === "\\\\" ? found : found === "\\u0000" ? "" : "\ufffd");

export function checkYaml(yaml: string, type: RepoType): CardCheck {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { ...yamlOptions, lineCounter: lines });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `at line ${line}, column ${col}`;
  };
  const found = document.errors.map(
    ({ message, pos: [offset] }) =>
      () =>
        `${firstLine(message)} ${at(offset)}`,
  );
  const repeated = isMap(document.contents) ? repeatedKeys(document.contents) : [];
  const errors = [...found, ...repeated.map((offset) => () => `Map keys must be unique ${at(offset)}`)];
  if (errors.length > 0) return { errors: errors.slice(0, MESSAGES_MAX).map((message) => message()), warnings: [] };
  if (document.contents === null) return { errors: [], warnings: ["The front matter is empty."] };
  if (!isMap(document.contents)) return { errors: ["The front matter is not a mapping of names to values."], warnings: [] };
  try {
    const card = plainValue(document) as Record<string, unknown>;
    const warnings = document.warnings.slice(0, MESSAGES_MAX).map(({ message }) => firstLine(message));
    return { errors: errorsOfValues(card, type).slice(0, MESSAGES_MAX), warnings: warningsOf(card, type, warnings) };
  } catch {
    return { errors: ["The front matter has too many aliases."], warnings: [] };
  }
}

/** @throws Error if aliases would turn a small text into a huge value */
function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  let aliases = 0;
  visit(document, (_, node) => {
    if (isAlias(node)) aliases += 1;
  });
  if (aliases > ALIASES_MAX) throw new Error("too many aliases");
  const value = document.toJS({ maxAliasCount: 10 });
  if ((JSON.stringify(value)?.length ?? 0) > CARD_MAX_CHARACTERS) throw new Error("the aliases expand to too much");
  return value;
}

function repeatedKeys({ items }: YAMLMap): number[] {
  const seen = new Set<unknown>();
  return items.flatMap(({ key }) => {
    if (!isScalar(key)) return [];
    const isRepeated = seen.has(key.value);
    seen.add(key.value);
    return isRepeated ? [key.range?.[0] ?? 0] : [];
  });
}

function warningsOf(card: Record<string, unknown>, type: RepoType, found: string[]): string[] {
  const missing = type === "space" && card.sdk === undefined ? ["sdk is missing."] : [];
  return [...found, ...missing];
}

const firstLine = (message: string): string => (message.split("\n")[0] ?? "").replace(/:$/, "").slice(0, MESSAGE_MAX_CHARACTERS);
