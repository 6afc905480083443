import { setImmediate } from "node:timers/promises";
import { db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { fairQueue } from "../../fair-queue/fair-queue.ts";
import { type ByteRange, parseRange } from "../../http/byte-range.ts";
import { fetchUrlOf } from "./fetch-url.ts";
import { locateTerms, type PlacedTerm, placeTerms, storedTerms } from "./terms.ts";

/** `end` is exclusive. */
type Chunks = { start: number; end: number };

/** Xet Protocol Specification 1.1, "Download Protocol". */
export type Reconstruction = {
  /** How many bytes of the first term come before the range. */
  offset: number;
  terms: { hash: string; chunks: Chunks; bytes: number }[];
  fetches: Map<string, { chunks: Chunks; bytes: ByteRange; url: string }[]>;
};

/** Describing a file of many pieces takes megabytes. */
const reconstructions = fairQueue({ name: "xet_reconstructions", slots: 8, waitMaxMs: 60_000 });
const TERMS_MAX = 8_192;
const TERMS_PER_TURN = 16;

/**
 * `header` is the `Range` header.
 * @returns "unsatisfiable" for a range beyond the file's end
 */
export async function reconstructFile(
  repoId: string,
  hash: string,
  header: string | undefined,
): Promise<Reconstruction | "unsatisfiable"> {
  const where = { repoId_hash: { repoId, hash } };
  const file = await db().xetFile.findUnique({ where, select: { sizeBytes: true } });
  if (!file) throw notFound("Entry");
  const range = parseRange(header, Number(file.sizeBytes));
  if (range === "unsatisfiable") return range;
  return reconstructions.run(() => describeTerms(repoId, hash, range), { within: repoId });
}

async function describeTerms(repoId: string, hash: string, range: ByteRange | undefined): Promise<Reconstruction> {
  const placed: PlacedTerm[] = [];
  for await (const term of placeTerms(storedTerms(repoId, hash), range)) {
    if (placed.length === TERMS_MAX) {
      throw new ServiceError(
        "payload_too_large",
        `This file has more than ${TERMS_MAX.toLocaleString("en")} pieces. Request it in ranges.`,
      );
    }
    placed.push(term);
  }
  const found: Reconstruction = { offset: 0, terms: [], fetches: new Map() };
  const known = new Set<string>();
  for await (const { xorbHash, start, end, at, bytes, xorb, packed } of locateTerms(repoId, placed, range)) {
    if (found.terms.length === 0 && range) found.offset = range.start - at;
    const chunks = { start, end };
    found.terms.push({ hash: xorbHash, chunks, bytes });
    if (found.terms.length % TERMS_PER_TURN === 0) await setImmediate();
    const key = `${xorbHash} ${start} ${end}`;
    if (known.has(key)) continue;
    known.add(key);
    const fetches = found.fetches.get(xorbHash) ?? [];
    found.fetches.set(xorbHash, fetches);
    fetches.push({ chunks, bytes: packed, url: await fetchUrlOf(repoId, xorb, packed) });
  }
  return found;
}
