import { db } from "../../../db.ts";
import { fairQueue } from "../../../fair-queue/fair-queue.ts";
import { WALK_MAX_MS } from "../../git/read/walk.ts";
import { RanOutOfTime } from "../../git/run-git.ts";
import { ENTRY_BYTES, placeTerms, storedTerms, type TermEntries } from "../../xet/terms.ts";

/** A repository may have millions of files with terms (S137). Code with a slot must not wait in another queue. */
const termReads = fairQueue({ name: "xet_terms", slots: 2, waitMaxMs: 30_000 });

const FILES_PER_PAGE = 1_000;
const FILES_PER_QUERY = 250;
const FIRST_BYTES = 64 * ENTRY_BYTES;

export function xorbsOf(repoId: string, hashes: readonly string[]): Promise<Set<string>> {
  return termReads.run(() => readXorbs(repoId, hashes, Date.now() + WALK_MAX_MS), { within: repoId });
}

export function xorbsOnlyOf(repoId: string, hashes: readonly string[]): Promise<Set<string>> {
  const find = async () => {
    const endsAt = Date.now() + WALK_MAX_MS;
    const xorbs = await readXorbs(repoId, hashes, endsAt);
    const removed = new Set(hashes);
    for (let after: string | undefined = ""; after !== undefined && xorbs.size > 0; ) {
      const files: { hash: string }[] = await db().xetFile.findMany({
        where: { repoId, hash: { gt: after } },
        orderBy: { hash: "asc" },
        take: FILES_PER_PAGE,
        select: { hash: true },
      });
      const kept = files.map(({ hash }) => hash).filter((hash) => !removed.has(hash));
      for await (const { xorbHash } of placeTerms(entriesOf(repoId, kept, endsAt))) xorbs.delete(xorbHash);
      after = files.length < FILES_PER_PAGE ? undefined : files.at(-1)?.hash;
    }
    return xorbs;
  };
  return termReads.run(find, { within: repoId });
}

async function readXorbs(repoId: string, hashes: readonly string[], endsAt: number): Promise<Set<string>> {
  const xorbs = new Set<string>();
  for await (const { xorbHash } of placeTerms(entriesOf(repoId, hashes, endsAt))) xorbs.add(xorbHash);
  return xorbs;
}

async function* entriesOf(repoId: string, hashes: readonly string[], endsAt: number): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < hashes.length; at += FILES_PER_QUERY) {
    const rows = await db().$queryRaw<{ hash: string; first: Uint8Array; isWhole: boolean }[]>`
      SELECT hash, substring(terms FROM 1 FOR ${FIRST_BYTES}::int) AS first, octet_length(terms) <= ${FIRST_BYTES}::int AS "isWhole"
        FROM xet_file WHERE repo_id = ${repoId} AND hash = ANY (${hashes.slice(at, at + FILES_PER_QUERY)})`;
    for (const { hash, first, isWhole } of rows) {
      const entries: TermEntries = isWhole ? [Buffer.from(first)] : storedTerms(repoId, hash);
      for await (const some of entries) {
        if (Date.now() > endsAt) throw new RanOutOfTime();
        yield some;
      }
    }
  }
}
