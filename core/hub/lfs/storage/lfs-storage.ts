import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { invalidRequest, ServiceError } from "../../../errors.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import type { LfsObjectId } from "../lfs-object.ts";

/** The content to store: its size, and its SHA-256 if it is identified by that. */
export type AnnouncedContent = { oid?: string; size: number };

/** Content that was received and verified, but belongs to no repository yet. */
export type ReceivedContent = {
  /** Moves it to its location; called under the location's lock, in the transaction that adds it to a repository. */
  keep(): Promise<void>;
  discard(): Promise<void>;
};

/** Stores large files. A location begins with the storage's name, so that a change of LFS_STORAGE keeps old files available. */
export type LfsStorage = {
  /** The location for an object that will be uploaded to a repository. */
  newLocation(repoId: string, oid: string): string;
  /**
   * Receives content through this process, in pieces, each of which is valid until the next one is requested.
   * @param object without a hash if `content` verifies itself
   * @throws ServiceError `invalid_request` if the content does not match `object`; then it is deleted
   */
  receive(location: string, object: AnnouncedContent, content: AsyncIterable<Uint8Array>): Promise<ReceivedContent>;
  /** @throws ServiceError `gone` if the content is lost */
  open(location: string, size: number, range?: ByteRange): Promise<Readable>;
  /**
   * Like `open`, for content that is only read once: each piece is valid until the next one is requested, so that a file of gigabytes
   * leaves nothing to the garbage collector. A storage without it uses `open`.
   */
  scan?(location: string, range: ByteRange): AsyncGenerator<Uint8Array, void, undefined>;
  /** Only for a storage in files: the path of an object's file, for a thread that reads it. */
  pathOf?(location: string): string;
  /** Deletes the content and an incomplete upload in parts, if there are any. */
  remove(location: string, uploadId?: string | null): Promise<void>;
  /** Checks whether it can be written to, read from and deleted from. @throws Error with the reason */
  probe(): Promise<void>;
  /** Set if clients can use the storage directly, so that content does not pass through us. */
  direct?: DirectTransfers;
};

export type DirectTransfers = {
  /** @param options.range the only range for which the URL is valid; the client has to request it */
  downloadUrl(
    location: string,
    options: { seconds: number; fileName?: string; contentType?: string; range?: ByteRange },
  ): Promise<string>;
  /** For one request whose body has the object's size; the client has to send `header`. */
  uploadUrl(
    location: string,
    object: AnnouncedContent,
    seconds: number,
  ): Promise<{ href: string; header: Record<string, string> }>;
  /** @param before an upload to the same location to continue, if the storage still knows it */
  startParts(location: string, object: LfsObjectId, seconds: number, before: string | null): Promise<PartsUpload>;
  /** Deletes an upload in parts, with the parts that have arrived. */
  endParts(location: string, uploadId: string): Promise<void>;
  /** Joins the parts into one object; may be repeated. @throws ServiceError `invalid_request` for missing parts */
  joinParts(location: string, uploadId: string, parts: readonly { partNumber: number; etag: string }[]): Promise<void>;
  /**
   * Checks that the content that a client put at `location` has its hash.
   * @param options.newSpare absent if nobody can write there now. Otherwise content whose hash we had to check ourselves is copied to the
   *   location that this returns, to which the client cannot write.
   * @returns its location now; undefined if nothing was uploaded
   * @throws ServiceError `invalid_request` when the content does not match
   */
  verify(
    location: string,
    object: LfsObjectId,
    /** `party`: the caller, for the fair queue. `silenceMaxMs`: how long the bucket may send nothing. */
    options: { newSpare?: (() => Promise<string>) | undefined; party?: string | undefined; silenceMaxMs?: number },
  ): Promise<string | undefined>;
};

export type PartsUpload = { uploadId: string; chunkBytes: number; urls: string[] };

/**
 * Passes content on while counting and hashing it.
 * @throws ServiceError `invalid_request` once it is too long, or at its end if it does not match
 */
export async function* checkContent(
  content: AsyncIterable<Uint8Array>,
  { oid, size }: AnnouncedContent,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = oid === undefined ? undefined : createHash("sha256");
  let received = 0;
  for await (const chunk of content) {
    received += chunk.byteLength;
    if (received > size) throw invalidRequest(`The content is longer than the announced ${size.toLocaleString("en")} bytes.`);
    hash?.update(chunk);
    yield chunk;
  }
  if (received < size)
    throw invalidRequest(
      `The content ended after ${received.toLocaleString("en")} of ${size.toLocaleString("en")} bytes. Upload it again.`,
    );
  if (hash?.digest("hex") !== oid) throw invalidRequest("The content does not match its SHA-256. Upload it again.");
}

export const lostContent = (cause?: unknown): ServiceError =>
  new ServiceError("gone", "The content of this file is no longer stored. Upload it again if you have it.", { cause });
