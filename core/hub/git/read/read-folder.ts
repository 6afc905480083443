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
  lastCommit: CommitSummary | null;
  commitCount: number | null;
  readme: Readme | null;
  isLate: boolean;
};

type FolderQuery = {
  revision: string;
  path: string;
  cursor?: string;
  /** False leaves the repository's card as the only readme. */
  mayReadContent: boolean;
};

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
  const lastCommit = commits.value?.get(path) ?? null;
  return { ...page, entries, lastCommit, commitCount: count.value ?? null, readme, isLate: commits.isLate || count.isLate };
}

/** Everybody who may see the repository may read the card. */
export async function readFrontPage(repo: Repo): Promise<Readme | undefined> {
  const { headSha } = repo;
  if (headSha === null || repo.platformId !== null) return undefined;
  return withObjects(await openRepository(repo), (objects) => findReadme(objects, headSha));
}

export type Readme = {
  name: string;
  text: string;
  isMarkdown: boolean;
};

const README_MAX_BYTES = 1024 * 1024;
const NAMES = ["readme.md", "readme.markdown", "readme", "readme.txt"];
const LENGTHS = new Set(NAMES.map(({ length }) => length));

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
