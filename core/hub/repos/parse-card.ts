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
import { FRONT_MATTER_MAX_CHARACTERS } from "./front-matter.ts";

// What is in here runs in a process of its own (card-subprocess.ts), and only there: any YAML parser can be kept busy by a text that was made for it.

export type CardCheck = { errors: string[]; warnings: string[] };

/** As JSON. More than a person writes; aliases and escapes make a text thirty times as long, and it is read with every request for the repository. */
const CARD_MAX_CHARACTERS = 2 * FRONT_MATTER_MAX_CHARACTERS;
/** Each is looked for in all of the text. */
const ALIASES_MAX = 100;
const MESSAGES_MAX = 20;
const MESSAGE_MAX_CHARACTERS = 500;

// Whether keys are unique takes the square of their number, and so does a sentence for each of many errors: neither is asked for.
const yamlOptions = {
  schema: "core",
  uniqueKeys: false,
  prettyErrors: false,
} as const satisfies ParseOptions & DocumentOptions & SchemaOptions;

/** Front matter as an object; null when it cannot be read, or is not a mapping. */
export function parseCard(yaml: string): Record<string, unknown> | null {
  try {
    const document = parseDocument(yaml, yamlOptions);
    if (document.errors.length > 0) return null;
    const value = plainValue(document);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return JSON.parse(JSON.stringify(value).replaceAll("\\u0000", "")) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** What is wrong with front matter, in sentences; a card with errors would not be read. */
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
  if (errors.length > 0) return { errors: errors.slice(0, MESSAGES_MAX).map((say) => say()), warnings: [] };
  if (document.contents === null) return { errors: [], warnings: ["The front matter is empty."] };
  if (!isMap(document.contents)) return { errors: ["The front matter is not a mapping of names to values."], warnings: [] };
  try {
    const card = plainValue(document) as Record<string, unknown>;
    const warnings = document.warnings.slice(0, MESSAGES_MAX).map(({ message }) => firstLine(message));
    return { errors: errorsOf(card), warnings: warningsOf(card, type, warnings) };
  } catch {
    return { errors: ["The front matter repeats itself too often (aliases)."], warnings: [] };
  }
}

/** What a document says, as plain values. @throws Error for aliases that would make a small text a huge value */
function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  let aliases = 0;
  visit(document, (_, node) => {
    if (isAlias(node)) aliases += 1;
  });
  if (aliases > ALIASES_MAX) throw new Error("too many aliases");
  const value = document.toJS({ maxAliasCount: 10 });
  if ((JSON.stringify(value)?.length ?? 0) > CARD_MAX_CHARACTERS) throw new Error("too much behind the aliases");
  return value;
}

/** Where a name is given again that is there already; of two the later one would count. */
function repeatedKeys({ items }: YAMLMap): number[] {
  const seen = new Set<unknown>();
  return items.flatMap(({ key }) => {
    if (!isScalar(key)) return [];
    const isRepeated = seen.has(key.value);
    seen.add(key.value);
    return isRepeated ? [key.range?.[0] ?? 0] : [];
  });
}

function errorsOf({ tags, sdk }: Record<string, unknown>): string[] {
  const errors: string[] = [];
  const isTagList = tags === undefined || tags === null || (Array.isArray(tags) && tags.every((tag) => typeof tag === "string"));
  if (!isTagList) errors.push("tags: write a list of words.");
  if (sdk !== undefined && typeof sdk !== "string") errors.push("sdk: write one word.");
  return errors;
}

function warningsOf(card: Record<string, unknown>, type: RepoType, found: string[]): string[] {
  const missing = type === "space" && card.sdk === undefined ? ["sdk is missing: say what the Space runs on."] : [];
  return [...found, ...missing];
}

/** What the parser shows below it is the text itself. */
const firstLine = (message: string): string => (message.split("\n")[0] ?? "").replace(/:$/, "").slice(0, MESSAGE_MAX_CHARACTERS);
