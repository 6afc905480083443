import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { request } from "undici";
import { env } from "../../../env.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import { newId } from "../../../ids.ts";
import { type AnnouncedContent, checkContent, type LfsStorage, lostContent, type ReceivedContent } from "./lfs-storage.ts";
import { s3, s3Status } from "./s3-client.ts";
import { s3Direct } from "./s3-direct.ts";
import { keyOf, S3_PREFIX } from "./s3-location.ts";
import { endParts, joinParts, partSizes, partUrls, startParts } from "./s3-parts.ts";

const SINGLE_PUT_MAX_BYTES = 5 * 1024 ** 3;
const URL_SECONDS = 60 * 60;

/** Each upload has its own key, so a client can damage only its own upload. */
export function s3Storage(): LfsStorage {
  const storage: LfsStorage = {
    newLocation: (repoId, oid) => `${S3_PREFIX}repositories/${repoId}/${oid.slice(0, 2)}/${oid}-${newId()}`,
    receive,
    open: openObject,
    remove,
    probe,
  };
  return env().LFS_S3_PROXY === "1" ? storage : { ...storage, direct: s3Direct };
}

async function receive(location: string, object: AnnouncedContent, content: AsyncIterable<Uint8Array>): Promise<ReceivedContent> {
  try {
    const checked = copied(checkContent(content, object));
    if (object.size <= SINGLE_PUT_MAX_BYTES) await putWhole(location, object, checked);
    else await putInParts(location, object, checked);
  } catch (error) {
    await remove(location).catch(() => undefined);
    throw error;
  }
  return { keep: async () => undefined, discard: () => remove(location) };
}

/** The source reuses a piece after the next request. */
async function* copied(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of content) yield Uint8Array.from(piece);
}

async function putWhole(location: string, object: AnnouncedContent, content: AsyncIterable<Uint8Array>): Promise<void> {
  const { href, header } = await s3Direct.uploadUrl(location, object, URL_SECONDS);
  await put(href, object.size, content, header);
}

async function putInParts(location: string, object: AnnouncedContent, content: AsyncIterable<Uint8Array>): Promise<void> {
  const uploadId = await startParts(location);
  const slices = new Slices(content);
  const parts: { partNumber: number; etag: string }[] = [];
  for (const [at, size] of partSizes(object.size).entries()) {
    const partNumber = at + 1;
    const [href = ""] = await partUrls(location, uploadId, [size], URL_SECONDS, partNumber);
    parts.push({ partNumber, etag: await put(href, size, slices.next(size)) });
  }
  await slices.end();
  await joinParts(location, uploadId, parts);
}

async function put(href: string, size: number, body: AsyncIterable<Uint8Array>, header = {}): Promise<string> {
  const stream = new PassThrough();
  const filling = pipeline(Readable.from(body, { objectMode: false }), stream);
  const sending = request(href, { method: "PUT", body: stream, headers: { ...header, "content-length": String(size) } });
  // A failed body also fails the request, so its error comes first.
  const [filled, sent] = await Promise.allSettled([filling, sending]);
  if (sent.status === "fulfilled" && sent.value.statusCode !== 200) {
    throw new Error(`the bucket responded with ${sent.value.statusCode}: ${(await sent.value.body.text()).slice(0, 500)}`);
  }
  if (filled.status === "rejected") throw filled.reason;
  if (sent.status === "rejected") throw sent.reason;
  await sent.value.body.dump();
  return String(sent.value.headers.etag ?? "");
}

class Slices {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#chunks = content[Symbol.asyncIterator]();
  }

  async *next(size: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let left = size; left > 0; ) {
      if (this.#rest.byteLength === 0) {
        const { value, done } = await this.#chunks.next();
        if (done) return;
        this.#rest = value;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.byteLength);
      left -= piece.byteLength;
      yield piece;
    }
  }

  async end(): Promise<void> {
    while (!(await this.#chunks.next()).done);
  }
}

async function openObject(location: string, size: number, range?: ByteRange): Promise<Readable> {
  if (size === 0) return Readable.from([]);
  const { sdk, client, bucket } = await s3();
  try {
    const { Body } = await client.send(
      new sdk.GetObjectCommand({
        Bucket: bucket,
        Key: keyOf(location),
        ...(range && { Range: `bytes=${range.start}-${range.end}` }),
      }),
    );
    return Body as Readable;
  } catch (error) {
    if (s3Status(error) === 404) throw lostContent(error);
    throw error;
  }
}

async function remove(location: string, uploadId?: string | null): Promise<void> {
  const { sdk, client, bucket } = await s3();
  if (uploadId) await endParts(location, uploadId);
  await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: keyOf(location) }));
}

async function probe(): Promise<void> {
  const { sdk, client, bucket } = await s3();
  const object = { Bucket: bucket, Key: `probe/${newId()}` };
  await client.send(new sdk.PutObjectCommand({ ...object, Body: "probe" }));
  const { Body } = await client.send(new sdk.GetObjectCommand(object));
  const found = await Body?.transformToString();
  await client.send(new sdk.DeleteObjectCommand(object));
  if (found !== "probe") throw new Error("the bucket did not return the content that was written");
}
