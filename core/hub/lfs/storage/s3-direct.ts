import { createHash } from "node:crypto";
import { addAbortSignal, type Readable } from "node:stream";
import { invalidRequest } from "../../../errors.ts";
import { fairQueue } from "../../../fair-queue/fair-queue.ts";
import { base64OfOid, type LfsObjectId } from "../lfs-object.ts";
import type { DirectTransfers } from "./lfs-storage.ts";
import { s3, s3Status } from "./s3-client.ts";
import { keyOf } from "./s3-location.ts";
import { endParts, isOpen, joinParts, partSizes, partUrls, startParts } from "./s3-parts.ts";
import { signUrl } from "./sign-url.ts";

const CHECKSUM_HEADER = "x-amz-checksum-sha256";

export const s3Direct: DirectTransfers = {
  downloadUrl(location, { seconds, fileName, contentType, range }) {
    return signUrl({
      method: "GET",
      key: keyOf(location),
      query: {
        "response-content-type": contentType ?? "application/octet-stream",
        "response-content-disposition": attachment(fileName),
      },
      headers: { range: range && `bytes=${range.start}-${range.end}` },
      seconds,
    });
  },

  async uploadUrl(location, { oid, size }, seconds) {
    const checksum = oid === undefined ? undefined : base64OfOid(oid);
    // Both headers are signed, because S3 ignores a hash or a length in the query.
    const headers = { [CHECKSUM_HEADER]: checksum, "content-length": String(size) };
    const href = await signUrl({ method: "PUT", key: keyOf(location), headers, seconds });
    const header: Record<string, string> = checksum === undefined ? {} : { [CHECKSUM_HEADER]: checksum };
    return { href, header };
  },

  async startParts(location, object, seconds, before) {
    const uploadId = before !== null && (await isOpen(location, before)) ? before : await startParts(location);
    const sizes = partSizes(object.size);
    return { uploadId, chunkBytes: sizes[0] ?? 0, urls: await partUrls(location, uploadId, sizes, seconds) };
  },

  endParts,

  joinParts,
  verify,
};

const attachment = (fileName: string | undefined): string =>
  fileName ? `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}` : "attachment";

/** An object may have 50 GB. Callers wait long, because clients do not retry after 503. */
const reads = fairQueue({ name: "lfs_verifications", slots: 8, waitMaxMs: 15 * 60_000, waitingMax: 1_000 });
const SILENCE_MAX_MS = 60_000;

async function verify(
  location: string,
  { oid, size }: LfsObjectId,
  { newSpare, party, silenceMaxMs = SILENCE_MAX_MS }: Parameters<DirectTransfers["verify"]>[2],
): Promise<string | undefined> {
  const { sdk, client, bucket } = await s3();
  const Key = keyOf(location);
  const head = await client
    .send(new sdk.HeadObjectCommand({ Bucket: bucket, Key, ChecksumMode: "ENABLED" }))
    .catch((error: unknown) => {
      if (s3Status(error) === 404) return undefined;
      throw error;
    });
  if (!head) return undefined;
  if (head.ContentLength !== size)
    throw invalidRequest(`The content has ${head.ContentLength} bytes, not the announced ${size}.`);
  // S3's checksum of an upload in parts is a hash of hashes, so the content is read.
  if (head.ChecksumSHA256 === base64OfOid(oid)) return location;
  const { sha256, etag } = await reads.run(
    () => readHash(location, silenceMaxMs),
    party === undefined ? {} : { party: { key: party, isAnonymous: false } },
  );
  if (sha256 !== oid) throw invalidRequest("The content does not match its SHA-256. Upload it again.");
  if (!newSpare) return location;
  const spare = await newSpare();
  await client.send(
    new sdk.CopyObjectCommand({
      Bucket: bucket,
      Key: keyOf(spare),
      CopySource: `${bucket}/${Key}`,
      // Copies only the version that was read, because somebody may replace the object now.
      CopySourceIfMatch: etag,
    }),
  );
  return spare;
}

async function readHash(location: string, silenceMaxMs: number): Promise<{ sha256: string; etag: string | undefined }> {
  const { sdk, client, bucket } = await s3();
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error("the bucket sent nothing for too long")), silenceMaxMs);
  try {
    const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: keyOf(location) });
    const { Body, ETag } = await client.send(command, { abortSignal: silence.signal });
    const hash = createHash("sha256");
    for await (const chunk of addAbortSignal(silence.signal, Body as Readable)) {
      timer.refresh();
      hash.update(chunk);
    }
    return { sha256: hash.digest("hex"), etag: ETag };
  } finally {
    clearTimeout(timer);
  }
}
