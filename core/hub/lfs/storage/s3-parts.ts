import { ServiceError } from "../../../errors.ts";
import type { LfsObjectId } from "../lfs-object.ts";
import { s3, s3Status } from "./s3-client.ts";
import { keyOf } from "./s3-location.ts";

const MIB = 1024 ** 2;
const CHUNK_MIN_BYTES = 32 * MIB;
/** S3 takes 10,000; but each has an address of its own in one answer. */
const PARTS_MAX = 1_000;

/** Begins an upload in parts: all of one size, but for the last. */
export async function startParts(
  location: string,
  { size }: LfsObjectId,
): Promise<{ uploadId: string; chunkBytes: number; count: number }> {
  const { sdk, client, bucket } = await s3();
  const chunkBytes = Math.max(CHUNK_MIN_BYTES, Math.ceil(size / PARTS_MAX / MIB) * MIB);
  const { UploadId = "" } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket: bucket, Key: keyOf(location) }));
  return { uploadId: UploadId, chunkBytes, count: Math.ceil(size / chunkBytes) };
}

export async function partAddresses(
  location: string,
  uploadId: string,
  partNumbers: readonly number[],
  seconds: number,
): Promise<string[]> {
  const { sdk, client, bucket, getSignedUrl } = await s3();
  const part = { Bucket: bucket, Key: keyOf(location), UploadId: uploadId };
  const sign = (PartNumber: number) =>
    getSignedUrl(client, new sdk.UploadPartCommand({ ...part, PartNumber }), { expiresIn: seconds });
  return Promise.all(partNumbers.map(sign));
}

export async function joinParts(
  location: string,
  uploadId: string,
  parts: readonly { partNumber: number; etag: string }[],
): Promise<void> {
  const { sdk, client, bucket } = await s3();
  const object = { Bucket: bucket, Key: keyOf(location) };
  const Parts = parts.map(({ partNumber, etag }) => ({ PartNumber: partNumber, ETag: etag }));
  try {
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...object, UploadId: uploadId, MultipartUpload: { Parts } }));
  } catch (error) {
    const status = s3Status(error);
    // Of an answer that got lost: the parts are one object already, whose content is looked at next.
    if (status === 404 && (await exists(location))) return;
    if (status && status < 500) {
      throw new ServiceError("invalid_request", "Not all parts of the file are there. Upload it again.", { cause: error });
    }
    throw error;
  }
}

async function exists(location: string): Promise<boolean> {
  const { sdk, client, bucket } = await s3();
  return client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: keyOf(location) })).then(
    () => true,
    () => false,
  );
}
