import type { Readable } from "node:stream";
import { isSigned, sign } from "../../crypto/seal.ts";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { countWork } from "../../fair-queue/party.ts";
import type { ByteRange } from "../../http/byte-range.ts";
import { downloads } from "../git/queues.ts";
import { SIGN_MS } from "../lfs/storage/sign-url.ts";
import { storageOf } from "../lfs/storage/storages.ts";
import { isHashText } from "./hashes.ts";
import { openXorb, type XorbPlace } from "./open-xorb.ts";
import { xetUrlOf } from "./xet-token.ts";

const SECONDS = 60 * 60;

type Fetch = { repoId: string; hash: string; range: ByteRange; expires: number };

/** A URL of the storage, if clients can reach it and it has these bytes. */
export async function fetchUrlOf(
  repoId: string,
  { hash, location, hasHeaders }: XorbPlace,
  range: ByteRange,
  now = Date.now(),
): Promise<string> {
  const direct = hasHeaders ? storageOf(location).direct : undefined;
  countWork(SIGN_MS);
  if (direct) return direct.downloadUrl(location, { seconds: SECONDS, range });
  const expires = Math.floor(now / 1000) + SECONDS;
  const signature = sign(PURPOSE, textOf({ repoId, hash, range, expires }));
  return `${xetUrlOf(repoId)}/xorbs/${hash}?bytes=${range.start}-${range.end}&expires=${expires}&signature=${signature}`;
}

export async function openFetch(
  { repoId, hash, bytes, expires, signature }: Record<"repoId" | "hash" | "bytes" | "expires" | "signature", string>,
  header: string | undefined,
): Promise<{ range: ByteRange; stream: Readable }> {
  const [, start, end] = /^(\d{1,10})-(\d{1,10})$/.exec(bytes) ?? [];
  const range = { start: Number(start), end: Number(end) };
  const asked: Fetch = { repoId, hash, range, expires: Number(expires) };
  const isOurs = start !== undefined && isHashText(hash) && isSigned(PURPOSE, textOf(asked), signature);
  if (!isOurs || header !== `bytes=${range.start}-${range.end}`) throw refuse("This URL is not valid for these bytes.");
  if (asked.expires * 1000 <= Date.now()) throw refuse("This URL has expired.");
  const where = { repoId_hash: { repoId, hash } };
  const select = { hash: true, location: true, hasHeaders: true, startsAt: true };
  const xorb = await db().xetXorb.findUnique({ where, select });
  if (!xorb) throw new ServiceError("not_found", "The xorb no longer exists.");
  // The response holds a file or a connection as long as the client reads (S137).
  await downloads.takeUntilAnswered({ within: repoId });
  return { range, stream: await openXorb(repoId, { ...xorb, startsAt: Number(xorb.startsAt) }, range) };
}

const PURPOSE = "xet fetch addresses";

const textOf = ({ repoId, hash, range, expires }: Fetch): string =>
  [env().ORIGIN, repoId, hash, range.start, range.end, expires].join("\n");

const refuse = (sentence: string): ServiceError => new ServiceError("forbidden", `${sentence} Request the file again.`);
