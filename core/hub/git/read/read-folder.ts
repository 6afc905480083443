import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import type { CommitSummary } from "./commit.ts";
import { type GitObjects, ObjectTooLarge, withObjects } from "./git-objects.ts";
import { findLastCommits } from "./last-commits.ts";
import { countCommits } from "./list-commits.ts";
import { listTreeWith, type TreePage } from "./list-tree.ts";
import { entriesIn, findEntry } from "./tree-entries.ts";
import { EXTRA_MAX_MS, ifInTime } from "./walk.ts";

const FOLDER_PAGE_ENTRIES = 100;

type Folder = TreePage & {
  /** The latest of the last commits of the shown entries; null if there is none, or none was found in time. */
  lastCommit: CommitSummary | null;
  /** For the whole revision; null when they could not be counted in time. */
  commitCount: number | null;
  readme: Readme | null;
  /** Whether the last commits or their number are missing now and will be available soon. */
  isLate: boolean;
};

type FolderQuery = {
  revision: string;
  path: string;
  cursor?: string;
  /** Without it, the only readme is the repository's card. */
  mayReadContent: boolean;
};

/**
 * A page of a folder with everything shown on it; the first one includes the readme. It usually takes three git processes, and one or none
 * when the same commit is requested again.
 * @throws ServiceError `not_found` (RevisionNotFound, EntryNotFound), `invalid_request` for an invalid cursor
 */
export async function readFolder(repo: Repo, { revision, path, cursor, mayReadContent }: FolderQuery): Promise<Folder> {
  const directory = await openRepository(repo);
  const { page, readme } = await withObjects(directory, async (objects) => {
    const page = await listTreeWith(objects, repo, { revision, path, cursor, limit: FOLDER_PAGE_ENTRIES });
    const { sha } = page.revision;
    const isCard = path === "" && sha === repo.headSha;
    const found = sha && !cursor && (mayReadContent || isCard) ? await findReadme(objects, sha, path) : undefined;
    return { page, readme: found ?? null };
  });
  const { sha } = page.revision;
  if (sha === null) return { ...page, lastCommit: null, commitCount: 0, readme, isLate: false };
  const paths = page.entries.map((entry) => entry.path);
  const [commits, count] = await Promise.all([
    ifInTime(findLastCommits(directory, sha, { folder: path, paths, waitMaxMs: EXTRA_MAX_MS })),
    ifInTime(countCommits(directory, sha, "", EXTRA_MAX_MS)),
  ]);
  const entries = page.entries.map((entry) => ({ ...entry, lastCommit: commits.value?.get(entry.path) }));
  const dated = entries.flatMap(({ lastCommit }) => (lastCommit ? [lastCommit] : []));
  const [lastCommit = null] = dated.sort((one, other) => other.author.at.getTime() - one.author.at.getTime());
  return { ...page, entries, lastCommit, commitCount: count.value ?? null, readme, isLate: commits.isLate || count.isLate };
}

/** The README on the default branch. It is part of the card, which everybody who may see the repository may read. */
export async function readFrontPage(repo: Repo): Promise<Readme | undefined> {
  const { headSha } = repo;
  if (headSha === null || repo.platformId !== null) return undefined;
  return withObjects(await openRepository(repo), (objects) => findReadme(objects, headSha));
}

export type Readme = {
  /** The name of the file. */
  name: string;
  text: string;
  /** Whether it is Markdown; other text is shown unchanged. */
  isMarkdown: boolean;
};

const README_MAX_BYTES = 1024 * 1024;
/** The first existing one is used. */
const NAMES = ["readme.md", "readme.markdown", "readme", "readme.txt"];
const LENGTHS = new Set(NAMES.map(({ length }) => length));

/** The readme of a folder; undefined if there is none, or only one that is too large to read. */
async function findReadme(objects: GitObjects, commit: string, path = ""): Promise<Readme | undefined> {
  const folder = await findEntry(objects, commit, path);
  if (!folder || (folder !== "root" && folder.type !== "directory")) return undefined;
  const tree = await objects.tree(folder === "root" ? commit : folder.oid);
  if (!tree) return undefined;
  const isOfInterest = (start: number, end: number) => LENGTHS.has(end - start);
  const files = [...entriesIn(tree, isOfInterest)].filter(({ type }) => type === "file");
  for (const wanted of NAMES) {
    const file = files.find(({ name }) => name.toLowerCase() === wanted);
    if (!file) continue;
    try {
      const object = await objects.read(file.oid, README_MAX_BYTES);
      if (!object || object.bytes.includes(0)) return undefined;
      return { name: file.name, text: object.bytes.toString("utf8"), isMarkdown: /\.(md|markdown)$/i.test(file.name) };
    } catch (error) {
      if (error instanceof ObjectTooLarge) return undefined;
      throw error;
    }
  }
  return undefined;
}
