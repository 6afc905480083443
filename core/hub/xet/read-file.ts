import { addAbortSignal, Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import type { ByteRange } from "../../http/byte-range.ts";
import { lostContent } from "../lfs/storage/lfs-storage.ts";
import { storageOf } from "../lfs/storage/storages.ts";
import type { CheckTurn } from "./check-turn.ts";
import { ChunkSplitter, unpackChunk } from "./chunk.ts";
import type { FilePart } from "./chunk-thread.ts";
import { dataOf, openXorb } from "./open-xorb.ts";
import { locateTerms, placeTerms, storedTerms, type TermEntries } from "./terms.ts";

const LOCATION_PREFIX = "xet:";
export const locationOfXetFile = (hash: string): string => LOCATION_PREFIX + hash;
export const xetHashAt = (location: string): string | undefined =>
  location.startsWith(LOCATION_PREFIX) ? location.slice(LOCATION_PREFIX.length) : undefined;

/** The result is by SHA-256. Omits objects in a bucket, which Xet would send through this service. */
export async function findXetHashes(repoId: string, oids: readonly string[]): Promise<Map<string, string>> {
  if (oids.length === 0 || env().XET !== "1") return new Map();
  const files = await db().$queryRaw<{ oid: string; hash: string; location: string }[]>`
    SELECT oid, f.hash, o.location FROM xet_file f JOIN lfs_object o USING (repo_id, oid)
     WHERE repo_id = ${repoId} AND oid = ANY (${[...oids]}::text[])`;
  const isForXet = (location: string) => xetHashAt(location) !== undefined || !storageOf(location).direct;
  return new Map(files.filter(({ location }) => isForXet(location)).map(({ oid, hash }) => [oid, hash]));
}

/** @throws ServiceError `gone` if the content is lost. The stream may fail with it too. */
export async function openXetFile(repoId: string, hash: string, range?: ByteRange): Promise<Readable> {
  const isThere = (await db().xetFile.count({ where: { repoId, hash } })) > 0;
  if (!isThere) throw lostContent();
  return Readable.from(readContent(repoId, hash, range), { objectMode: false });
}

/** A chunk's time depends on more than its size, so turns are measured. */
const TURN_MS = 1;

async function* readContent(repoId: string, hash: string, range: ByteRange | undefined): AsyncGenerator<Buffer, void, undefined> {
  const splitter = new ChunkSplitter();
  let turnEnds = performance.now() + TURN_MS;
  for await (const term of locateTerms(repoId, placeTerms(storedTerms(repoId, hash), range), range)) {
    const from = range ? Math.max(range.start - term.at, 0) : 0;
    const to = range ? Math.min(range.end + 1 - term.at, term.bytes) : term.bytes;
    let at = 0;
    for await (const piece of await openXorb(repoId, term.xorb, term.packed)) {
      for (const { header, packed } of splitter.push(piece as Buffer)) {
        const data = unpackChunk(header, packed);
        // A copy, because the splitter may reuse these bytes before they are sent.
        const own = data === packed ? Buffer.from(data) : data;
        yield own.subarray(Math.max(from - at, 0), Math.min(to - at, header.bytes));
        at += header.bytes;
        if (performance.now() < turnEnds) continue;
        await setImmediate();
        turnEnds = performance.now() + TURN_MS;
      }
    }
    if (at < to) throw lostContent();
  }
}

/** Each piece is valid until the next request. `turn` gives others their turn while nothing is open. */
export async function* readChunks(
  repoId: string,
  entries: TermEntries,
  turn: CheckTurn,
): AsyncGenerator<Uint8Array | FilePart, void, undefined> {
  for await (const { xorb, packed } of locateTerms(repoId, placeTerms(entries))) {
    await turn.pass();
    const path = storageOf(xorb.location).pathOf?.(xorb.location);
    if (path !== undefined) {
      yield { path, hasHeaders: xorb.hasHeaders, ...(xorb.hasHeaders ? packed : (await dataOf(repoId, xorb, packed)).data) };
      continue;
    }
    for await (const piece of addAbortSignal(turn.signal, await openXorb(repoId, xorb, packed))) yield piece as Uint8Array;
  }
}
