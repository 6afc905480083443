import type { RepoType } from "@keyhook/sdk";
import { isMap, parseDocument } from "yaml";
import { FRONT_MATTER } from "./read-card.ts";

export type CardCheck = { errors: string[]; warnings: string[] };

const MESSAGES_MAX = 20;
const MESSAGE_MAX_CHARACTERS = 500;

/** What is wrong with the front matter of a README before it is committed, in sentences; a card with errors would not be read. */
export function checkCard(text: string, type: RepoType): CardCheck {
  const [, yaml] = FRONT_MATTER.exec(text) ?? [];
  if (yaml === undefined)
    return { errors: [], warnings: ["There is no front matter: YAML between two lines of ---, at the top."] };
  const document = parseDocument(yaml, { schema: "core", prettyErrors: true });
  const errors = document.errors.map(({ message }) => firstLine(message));
  if (errors.length > 0) return { errors: errors.slice(0, MESSAGES_MAX), warnings: [] };
  if (document.contents === null) return { errors: [], warnings: ["The front matter is empty."] };
  if (!isMap(document.contents)) return { errors: ["The front matter is not a mapping of names to values."], warnings: [] };
  try {
    const card = document.toJS({ maxAliasCount: 10 }) as Record<string, unknown>;
    return {
      errors: errorsOf(card),
      warnings: warningsOf(
        card,
        type,
        document.warnings.map(({ message }) => firstLine(message)),
      ),
    };
  } catch {
    return { errors: ["The front matter repeats itself too often (aliases)."], warnings: [] };
  }
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
  return [...found.slice(0, MESSAGES_MAX), ...missing];
}

/** What the parser shows below it is the text itself. */
const firstLine = (message: string): string => (message.split("\n")[0] ?? "").replace(/:$/, "").slice(0, MESSAGE_MAX_CHARACTERS);
