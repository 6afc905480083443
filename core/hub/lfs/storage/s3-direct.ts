import { createHash } from "node:crypto";
import { addAbortSignal, type Readable } from "node:stream";
import { ServiceError } from "../../../errors.ts";
import { fairQueue } from "../../../fair-queue/fair-queue.ts";
import { base64OfOid, type LfsObjectId } from "../lfs-object.ts";
import type { DirectTransfers } from "./lfs-storage.ts";
import { s3, s3Status } from "./s3-client.ts";
import { keyOf } from "./s3-location.ts";
import { endParts, isOpen, joinParts, partAddresses, partSizes, startParts } from "./s3-parts.ts";

const CHECKSUM_HEADER = "x-amz-checksum-sha256";

/** Addresses in the bucket, good for one object, one operation and a while. */
export const s3Direct: DirectTransfers = {
  async downloadAddress(location, { seconds, fileName, contentType }) {
    const { sdk, client, bucket, getSignedUrl } = await s3();
    const command = new sdk.GetObjectCommand({
      Bucket: bucket,
      Key: keyOf(location),
      ResponseContentType: contentType ?? "application/octet-stream",
      ResponseContentDisposition: attachment(fileName),
    });
    return getSignedUrl(client, command, { expiresIn: seconds });
  },

  async uploadAddress(location, { oid, size }, seconds) {
    const { sdk, client, bucket, getSignedUrl } = await s3();
    const checksum = base64OfOid(oid);
    const command = new sdk.PutObjectCommand({
      Bucket: bucket,
      Key: keyOf(location),
      ChecksumSHA256: checksum,
      ContentLength: size,
    });
    // As a signed header it has to be sent, and S3 refuses whatever has another hash or length. In the query it would be a mere note.
    const href = await getSignedUrl(client, command, {
      expiresIn: seconds,
      unhoistableHeaders: new Set([CHECKSUM_HEADER]),
    });
    return { href, header: { [CHECKSUM_HEADER]: checksum } };
  },

  async startParts(location, object, seconds, before) {
    const uploadId = before !== null && (await isOpen(location, before)) ? before : await startParts(location);
    const sizes = partSizes(object.size);
    return { uploadId, chunkBytes: sizes[0] ?? 0, addresses: await partAddresses(location, uploadId, sizes, seconds) };
  },

  endParts,

  joinParts,
  verify,
};

const attachment = (fileName: string | undefined): string =>
  fileName ? `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}` : "attachment";

/**
 * Objects that are read to be hashed: up to 50 GB each, by way of this process. Clients ask once and take 503 for the end, and whoever
 * waits holds next to nothing.
 */
const reads = fairQueue({ name: "lfs_verifications", places: 8, waitMaxMs: 15 * 60_000, waitingMax: 1_000 });
/** A bucket that sends nothing for so long is given up, with the place. */
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
  if (head.ContentLength !== size) throw refuse(`The content has ${head.ContentLength} bytes, not the ${size} announced.`);
  // What S3 has computed itself over the whole; of an upload in parts it is a hash of hashes, with their number after a dash.
  if (head.ChecksumSHA256 === base64OfOid(oid)) return location;
  const { sha256, etag } = await reads.run(
    () => readHash(location, silenceMaxMs),
    party === undefined ? {} : { party: { key: party, isAnonymous: false } },
  );
  if (sha256 !== oid) throw refuse("The content is not what its SHA-256 says. Upload it again.");
  if (!newSpare) return location;
  const spare = await newSpare();
  await client.send(
    new sdk.CopyObjectCommand({
      Bucket: bucket,
      Key: keyOf(spare),
      CopySource: `${bucket}/${Key}`,
      // What was read, should somebody write there at this moment.
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

const refuse = (sentence: string): ServiceError => new ServiceError("invalid_request", sentence);
