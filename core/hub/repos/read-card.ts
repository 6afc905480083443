import type { RepoType } from "@keyhook/sdk";
import { ServiceError } from "../../errors.ts";
import { contentKey, Remembered } from "../../subprocesses/remembered.ts";
import { SubprocessPool } from "../../subprocesses/subprocess-pool.ts";
import { GitFailed, runGit } from "../git/run-git.ts";
import type { CardAnswer, CardQuestion } from "./card-subprocess.ts";
import { FRONT_MATTER_MAX_CHARACTERS, frontMatterOf } from "./front-matter.ts";
import type { CardCheck } from "./parse-card.ts";
import type { Repo } from "./repo.ts";

const README_MAX_BYTES = 1024 * 1024;
const TAGS_MAX = 100;
const TAG_MAX_CHARACTERS = 100;
/** S137: each event of the repository repeats its tags, and no quota counts events. */
const TAGS_MAX_BYTES = 4 * 1024;

type Card = Pick<Repo, "tags" | "card" | "sdk">;

type FrontMatter = Record<string, unknown> | null;

// Each bundle of Next creates its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookCards?: ReturnType<typeof newCards> };
keeper.keyhookCards ??= newCards();
const cards = keeper.keyhookCards;

function newCards() {
  return {
    subprocesses: new SubprocessPool<CardQuestion, CardAnswer>({
      name: "cards",
      module: "core/hub/repos/card-subprocess.ts",
      subprocesses: 4,
      cpuMaxMs: 1_000,
      memoryMaxMb: 128,
    }),
    known: new Remembered<{ card: FrontMatter }>({ entries: 5_000, characters: 4 * 1024 * 1024 }),
  };
}

/**
 * Call `readCardAhead` before the transaction, because no parser may run while a row is locked.
 * @returns undefined without that call
 */
export function knownCard(path: string, sha: string, repo: Pick<Repo, "type" | "sdk">): Card | undefined {
  const known = cards.known.get(contentKey(path, sha));
  return known && cardOf(known.card, repo);
}

export const noCard = (repo: Pick<Repo, "type" | "sdk">): Card => cardOf(null, repo);

function cardOf(card: FrontMatter, { type, sdk }: Pick<Repo, "type" | "sdk">): Card {
  const declared = typeof card?.sdk === "string" ? card.sdk.slice(0, TAG_MAX_CHARACTERS) : undefined;
  return { card, tags: tagsOf(card), sdk: type === "space" ? (declared ?? sdk) : null };
}

export async function readCardAhead(path: string, shas: readonly string[]): Promise<boolean> {
  const outcomes = await Promise.allSettled(shas.map((sha) => frontMatterAt(path, sha)));
  return !outcomes.some(({ status, reason }: { status: string; reason?: unknown }) => status === "rejected" && isBusy(reason));
}

const isBusy = (error: unknown): boolean => error instanceof ServiceError && error.code === "unavailable";

export const cardsBusy = (): ServiceError =>
  new ServiceError("unavailable", "Too many cards are being read. Try again in a few seconds.", {
    retryAfterSeconds: 5,
  });

async function frontMatterAt(path: string, sha: string): Promise<FrontMatter> {
  const key = contentKey(path, sha);
  const known = cards.known.get(key);
  if (known) return known.card;
  const readme = await readReadme(path, sha);
  const card = await parseFrontMatter(readme, path);
  cards.known.set(key, { card }, frontMatterOf(readme)?.length ?? 0);
  return card;
}

/**
 * @param within names the repository, because a caller's slots are shared among repositories
 * @returns null for absent, invalid or too expensive front matter
 */
export async function parseFrontMatter(text: string, within?: string): Promise<FrontMatter> {
  const yaml = frontMatterOf(text);
  if (yaml === undefined || yaml.length > FRONT_MATTER_MAX_CHARACTERS) return null;
  const key = contentKey(yaml);
  const known = () => {
    const one = cards.known.get(key);
    return one && { answer: one.card };
  };
  const outcome = known() ?? (await cards.subprocesses.ask({ parse: yaml }, { within, known }));
  if (outcome === "busy") throw cardsBusy();
  const card = typeof outcome === "string" ? null : (outcome.answer as FrontMatter);
  cards.known.set(key, { card }, yaml.length);
  return card;
}

/** Call this before committing a README, because invalid front matter is ignored afterwards. */
export async function checkCard(text: string, type: RepoType): Promise<CardCheck> {
  const yaml = frontMatterOf(text);
  if (yaml === undefined)
    return { errors: [], warnings: ["The file has no front matter: YAML between two lines of ---, at the top."] };
  if (yaml.length > FRONT_MATTER_MAX_CHARACTERS) {
    const most = `${FRONT_MATTER_MAX_CHARACTERS / 1024} KiB`;
    return { errors: [], warnings: [`The front matter is longer than ${most}.`] };
  }
  const outcome = await cards.subprocesses.ask({ check: yaml, type });
  if (outcome === "too much" || outcome === "too large") {
    return {
      errors: ["The front matter takes too long to read. Use plain names and values."],
      warnings: [],
    };
  }
  // A failure of this advice would make clients give up the commit.
  if (outcome === "busy") return { errors: [], warnings: ["The service is busy and could not check the front matter."] };
  return outcome.answer as CardCheck;
}

async function readReadme(path: string, sha: string): Promise<string> {
  try {
    const limits = { maxBytes: README_MAX_BYTES, isLimited: true, memoryMiB: 1_024 };
    return (await runGit(path, ["cat-file", "blob", `${sha}:README.md`], limits)).toString("utf8");
  } catch (error) {
    if (error instanceof GitFailed) return "";
    throw error;
  }
}

function tagsOf(card: FrontMatter): string[] {
  const tags = Array.isArray(card?.tags) ? card.tags : [];
  const unique = new Set(tags.filter((tag): tag is string => typeof tag === "string" && tag.length <= TAG_MAX_CHARACTERS));
  let bytes = 0;
  return [...unique].slice(0, TAGS_MAX).filter((tag) => {
    bytes += Buffer.byteLength(tag);
    return bytes <= TAGS_MAX_BYTES;
  });
}
