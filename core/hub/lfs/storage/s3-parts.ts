import { ServiceError } from "../../../errors.ts";
import { countWork } from "../../../fair-queue/party.ts";
import { s3, s3Status } from "./s3-client.ts";
import { keyOf } from "./s3-location.ts";
import { SIGN_MS, signUrl } from "./sign-url.ts";

const MIB = 1024 ** 2;
const CHUNK_MIN_BYTES = 32 * MIB;
/** 404: the upload is over. 405 or 501: the storage lacks the operation, and cleans up by itself. */
const NOT_THERE = new Set([404, 405, 501]);
const PARTS_MAX = 1_000;

export function partSizes(size: number): number[] {
  const chunkBytes = Math.max(CHUNK_MIN_BYTES, Math.ceil(size / PARTS_MAX / MIB) * MIB);
  return Array.from({ length: Math.ceil(size / chunkBytes) }, (_, at) => Math.min(chunkBytes, size - at * chunkBytes));
}

export async function startParts(location: string): Promise<string> {
  const { sdk, client, bucket } = await s3();
  const { UploadId = "" } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket: bucket, Key: keyOf(location) }));
  return UploadId;
}

export async function isOpen(location: string, uploadId: string): Promise<boolean> {
  const { sdk, client, bucket } = await s3();
  const upload = { Bucket: bucket, Key: keyOf(location), UploadId: uploadId };
  return client.send(new sdk.ListPartsCommand({ ...upload, MaxParts: 1 })).then(
    () => true,
    (error: unknown) => {
      if (s3Status(error) === 404) return false;
      if (NOT_THERE.has(s3Status(error) ?? 0)) return true;
      throw error;
    },
  );
}

export async function endParts(location: string, uploadId: string): Promise<void> {
  const { sdk, client, bucket } = await s3();
  const upload = { Bucket: bucket, Key: keyOf(location), UploadId: uploadId };
  await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch((error: unknown) => {
    if (!NOT_THERE.has(s3Status(error) ?? 0)) throw error;
  });
}

export async function partUrls(
  location: string,
  uploadId: string,
  sizes: readonly number[],
  seconds: number,
  first = 1,
): Promise<string[]> {
  countWork(sizes.length * SIGN_MS);
  const sign = (size: number, at: number) =>
    signUrl({
      method: "PUT",
      key: keyOf(location),
      query: { partNumber: String(first + at), uploadId },
      headers: { "content-length": String(size) },
      seconds,
    });
  return Promise.all(sizes.map(sign));
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
    // The parts were joined before, and the response was lost.
    if (status === 404 && (await exists(location))) return;
    if (status && status < 500) {
      throw new ServiceError("invalid_request", "Parts of the file are missing. Upload it again.", { cause: error });
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
