import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pool } from "../../db.ts";
import { findRunner } from "../../jobs/runners/find-runner.ts";
import { heldAmong, sweepTaskDirectories } from "../../jobs/runners/task-directory.ts";
import { serviceMark, sweepTemporaryFolders } from "../../temporary-folder.ts";
import type { Run } from "./record-run.ts";

/** Has the service's mark, because services may share a machine, and is short, because a socket's path has at most 107 bytes. */
export const leftPrefix = (): string => join(tmpdir(), `keyhook-space-${serviceMark()}-`);

export const nameOf = ({ repoId, claimId }: Pick<Run, "repoId" | "claimId">): string => `${repoId}-${claimId.slice(0, 8)}`;

export async function sweepLeftFiles(): Promise<void> {
  const prefix = leftPrefix();
  const names = (await readdir(dirname(prefix))).filter((name) => name.startsWith(basename(prefix)));
  const claimed = await claimedSpaces();
  const held = new Set(claimed.map(nameOf));
  for (const name of names) {
    const run = name.slice(basename(prefix).length).replace(/-[^-]*$/, "");
    if (!held.has(run)) await rm(join(dirname(prefix), name), { recursive: true, force: true });
  }
  await sweepTaskDirectories(idsOf(claimed));
  await sweepTemporaryFolders();
}

export async function sweepRunner(): Promise<void> {
  const runner = await findRunner();
  if ("sweep" in runner) await runner.sweep?.(async (ids) => heldAmong(ids, idsOf(await claimedSpaces())));
}

type Claimed = { repoId: string; claimId: string };

async function claimedSpaces(): Promise<Claimed[]> {
  const { rows } = await pool().query<Claimed>(
    `SELECT repo_id AS "repoId", claim_id AS "claimId" FROM space_runtime WHERE claim_id IS NOT NULL`,
  );
  return rows;
}

const idsOf = (claimed: readonly Claimed[]): ReadonlySet<string> => new Set(claimed.map(({ repoId }) => repoId));
