import { type DocumentOptions, isAlias, type ParseOptions, parseDocument, type SchemaOptions, visit } from "yaml";
import { GitFailed, runGit } from "../git/run-git.ts";
import type { Repo } from "./repo.ts";

const README_MAX_BYTES = 1024 * 1024;
const TAGS_MAX = 100;
const TAG_MAX_CHARACTERS = 100;
export const FRONT_MATTER = /^\u{feff}?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(\r?\n|$)/u;

export type Card = Pick<Repo, "tags" | "card" | "sdk">;

/** What README.md of a commit says of its repository in its front matter. What cannot be read counts as nothing said. */
export async function readCard(path: string, sha: string | null, { type, sdk }: Pick<Repo, "type" | "sdk">): Promise<Card> {
  const card = sha ? parseFrontMatter(await readReadme(path, sha)) : null;
  const declared = typeof card?.sdk === "string" ? card.sdk.slice(0, TAG_MAX_CHARACTERS) : undefined;
  return { card, tags: tagsOf(card), sdk: type === "space" ? (declared ?? sdk) : null };
}

/** More than a person writes; a parser in this process is busy with it for no longer than others notice (S137). */
export const FRONT_MATTER_MAX_CHARACTERS = 64 * 1024;
/** Each is looked for in all of the text. */
const ALIASES_MAX = 100;

// Whether keys are unique takes the square of their number, and so does a sentence for each of many errors: neither is asked for.
export const yamlOptions = {
  schema: "core",
  uniqueKeys: false,
  prettyErrors: false,
} as const satisfies ParseOptions & DocumentOptions & SchemaOptions;

/** What a document says, as plain values. @throws Error for aliases that would make a small text a huge value */
export function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  let aliases = 0;
  visit(document, (_, node) => {
    if (isAlias(node)) aliases += 1;
  });
  if (aliases > ALIASES_MAX) throw new Error("too many aliases");
  return document.toJS({ maxAliasCount: 10 });
}

/** The front matter of a Markdown text as an object; null when there is none, it is too long, or it is not a mapping. */
export function parseFrontMatter(text: string): Record<string, unknown> | null {
  const [, yaml] = FRONT_MATTER.exec(text) ?? [];
  if (yaml === undefined || yaml.length > FRONT_MATTER_MAX_CHARACTERS) return null;
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

/** A Markdown text as people read it. */
export function withoutFrontMatter(text: string): string {
  return text.replace(FRONT_MATTER, "");
}

async function readReadme(path: string, sha: string): Promise<string> {
  try {
    return (await runGit(path, ["cat-file", "blob", `${sha}:README.md`], { maxBytes: README_MAX_BYTES })).toString("utf8");
  } catch (error) {
    if (error instanceof GitFailed) return "";
    throw error;
  }
}

function tagsOf(card: Record<string, unknown> | null): string[] {
  const tags = Array.isArray(card?.tags) ? card.tags : [];
  return [...new Set(tags.filter((tag): tag is string => typeof tag === "string" && tag.length <= TAG_MAX_CHARACTERS))].slice(
    0,
    TAGS_MAX,
  );
}
