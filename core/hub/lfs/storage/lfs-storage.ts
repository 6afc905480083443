import type { Readable } from "node:stream";
import type { ByteRange } from "../../../http/byte-range.ts";
import type { LfsObjectId } from "../lfs-object.ts";

/** Content that was received whole and is what its hash says, but is not anybody's yet. */
export type ReceivedContent = {
  /** Puts it in its place; called under the location's lock, in the transaction that gives it to a repository. */
  keep(): Promise<void>;
  discard(): Promise<void>;
};

/**
 * Where the bytes of large files lie. A location is a text that begins with the storage's name, so that what was stored before a
 * change of LFS_STORAGE is still found.
 */
export type LfsStorage = {
  /** Where an object that is about to be uploaded to a repository will lie. */
  newLocation(repoId: string, oid: string): string;
  /**
   * Takes content through this process, a piece at a time.
   * @throws ServiceError `invalid_request` when it is not what `object` says; then nothing is left of it.
   */
  receive(location: string, object: LfsObjectId, content: AsyncIterable<Uint8Array>): Promise<ReceivedContent>;
  /** @throws ServiceError `gone` when the bytes are not there. */
  open(location: string, size: number, range?: ByteRange): Promise<Readable>;
  /** Forgets what lies there, and an upload in parts that was never completed; nothing there is fine. */
  remove(location: string, uploadId?: string | null): Promise<void>;
  /** Looks whether it can be written, read and deleted in. @throws Error with the reason */
  probe(): Promise<void>;
  /** Set where clients can be sent to the storage itself, so that bytes do not pass through us. */
  direct?: DirectTransfers;
};

export type DirectTransfers = {
  downloadAddress(location: string, options: { seconds: number; fileName?: string; contentType?: string }): Promise<string>;
  /** For one request, whose body has the object's size; `header` has to be sent with it. */
  uploadAddress(
    location: string,
    object: LfsObjectId,
    seconds: number,
  ): Promise<{ href: string; header: Record<string, string> }>;
  /** @param before an upload to the same place that goes on, if the storage still knows it */
  startParts(location: string, object: LfsObjectId, seconds: number, before: string | null): Promise<PartsUpload>;
  /** Forgets an upload in parts, with what has come of it. */
  endParts(location: string, uploadId: string): Promise<void>;
  /** Makes one object of the parts. Doing it again is fine. @throws ServiceError `invalid_request` for parts that are not there */
  joinParts(location: string, uploadId: string, parts: readonly { partNumber: number; etag: string }[]): Promise<void>;
  /**
   * Makes sure that what a client put at `location` is what its hash says.
   * @param options.newSpare left out where nobody can write there any more. Otherwise, if the storage itself does not vouch for the hash,
   * the content is copied to the place that this returns, out of the client's reach, once we have read it.
   * @returns where it lies now; undefined when nothing was uploaded
   * @throws ServiceError `invalid_request` when it is something else
   */
  verify(
    location: string,
    object: LfsObjectId,
    /** `party`: whose turn reading takes, for the fair queue. `silenceMaxMs`: for how long the bucket may send nothing. */
    options: { newSpare?: (() => Promise<string>) | undefined; party?: string | undefined; silenceMaxMs?: number },
  ): Promise<string | undefined>;
};

export type PartsUpload = { uploadId: string; chunkBytes: number; addresses: string[] };
