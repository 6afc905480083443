import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { plainText } from "../../accounts/plain-text.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { requireRoom } from "../../storage/hold-storage.ts";
import { createCommit } from "../git/write/create-commit.ts";
import type { Operation } from "../git/write/operation.ts";
import { parsePath } from "../git/write/parse-path.ts";
import { createRepo, type NewRepo } from "./create-repo.ts";
import { readRepo } from "./read-repos.ts";
import { ownerColumns, type Repo } from "./repo.ts";

export type FirstFile = { path: string; content: Uint8Array };

export const FILES_MAX = 100;
const LICENSE_MAX_CHARACTERS = 100;

/**
 * Makes a repository with its first commit. What its files are called is looked at before anything is made.
 * @param input.license is said in the front matter of README.md, where the files bring none
 * @throws ServiceError as createRepo and createCommit
 */
export async function createRepoWithFiles(
  actor: Actor,
  { files = [], license, ...input }: NewRepo & { files?: readonly FirstFile[] | undefined; license?: string | undefined },
  from: RequestOrigin,
): Promise<Repo> {
  if (files.length > FILES_MAX) {
    throw new ServiceError("payload_too_large", `Make the repository with at most ${FILES_MAX} files, and commit the others.`);
  }
  const operations = files.map(({ path, content }): Operation => ({ type: "file", path: parsePath(path), content }));
  const readme = license && !operations.some(({ path }) => path === "README.md") ? [licensed(license)] : [];
  const all = [...readme, ...operations];
  const owner = all.length > 0 ? await findOwner(input.owner) : undefined;
  if (owner) {
    // Before there is a repository that its files would then not fit into.
    await requirePermission(actor, "repo.create", ownerColumns(owner), { what: "Owner" });
    await requireRoom(owner, sizeOf(files), "the files of this repository");
  }
  const repo = await createRepo(actor, input, from);
  if (all.length === 0) return repo;
  const name = { type: repo.type, owner: repo.owner.handle, name: repo.name };
  await createCommit(actor, name, { revision: repo.defaultBranch, summary: "Initial commit", operations: all });
  return (await readRepo(repo.id)) ?? repo;
}

const sizeOf = (files: readonly FirstFile[]): number => files.reduce((sum, { content }) => sum + content.byteLength, 0);

function licensed(license: string): Operation {
  const said = plainText("license", license, LICENSE_MAX_CHARACTERS);
  return { type: "file", path: "README.md", content: Buffer.from(`---\nlicense: ${JSON.stringify(said)}\n---\n`) };
}
