import type { RepoType } from "@keyhook/sdk";
import { isMap, isScalar, LineCounter, parseDocument, type YAMLMap } from "yaml";
import { FRONT_MATTER, FRONT_MATTER_MAX_CHARACTERS, plainValue, yamlOptions } from "./read-card.ts";

export type CardCheck = { errors: string[]; warnings: string[] };

const MESSAGES_MAX = 20;
const MESSAGE_MAX_CHARACTERS = 500;

/** What is wrong with the front matter of a README before it is committed, in sentences; a card with errors would not be read. */
export function checkCard(text: string, type: RepoType): CardCheck {
  const [, yaml] = FRONT_MATTER.exec(text) ?? [];
  if (yaml === undefined)
    return { errors: [], warnings: ["There is no front matter: YAML between two lines of ---, at the top."] };
  if (yaml.length > FRONT_MATTER_MAX_CHARACTERS) {
    const most = `${FRONT_MATTER_MAX_CHARACTERS / 1024} KiB`;
    return { errors: [], warnings: [`The front matter is longer than ${most}, and is not read here.`] };
  }
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
