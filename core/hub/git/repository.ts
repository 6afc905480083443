import { access, mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { env } from "../../env.ts";
import { conflict, ServiceError } from "../../errors.ts";
import type { Repo } from "../repos/repo.ts";
import { runGit } from "./run-git.ts";

/** The path contains only the ID, and no name that a user chose (S137). */
export function repositoryPath(repoId: string): string {
  return join(env().DATA_DIR, "repositories", repoId.slice(-2), `${repoId}.git`);
}

/** Creates a missing folder: a process may have been killed after creating the row. */
export async function openRepository({
  id,
  defaultBranch,
  platformId,
  sizeBytes,
}: Pick<Repo, "id" | "defaultBranch" | "platformId" | "sizeBytes">): Promise<string> {
  if (platformId) throw conflict("This repository is hosted on another platform. Use its URL there.");
  const path = repositoryPath(id);
  const isThere = await access(join(path, "HEAD")).then(
    () => true,
    () => false,
  );
  if (isThere) return path;
  const missing = (cause: unknown) =>
    new ServiceError("unavailable", "The content of this repository is missing. Contact the operator of this service.", {
      cause,
    });
  const made = await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw sizeBytes > 0 ? missing(error) : error;
  });
  // The shared file system is missing. An empty repository would accept pushes that other nodes do not have (decision 104).
  if (made !== undefined && sizeBytes > 0) {
    await rmdir(path);
    throw missing(new Error(`${path} does not exist: is the file system of the repositories mounted?`));
  }
  await runGit(path, ["init", "--bare", "--quiet", "--template=", `--initial-branch=${defaultBranch}`]);
  return path;
}
