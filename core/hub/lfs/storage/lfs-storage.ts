import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { invalidRequest, ServiceError } from "../../../errors.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import type { LfsObjectId } from "../lfs-object.ts";

/** `oid` is absent if the content is not identified by a SHA-256. */
export type AnnouncedContent = { oid?: string; size: number };

/** Verified content that belongs to no repository yet. */
export type ReceivedContent = {
  /** Call this under the location's lock, in the transaction that adds the content to a repository. */
  keep(): Promise<void>;
  discard(): Promise<void>;
};

/** A location begins with the storage's name, so that old files stay available after a change of LFS_STORAGE. */
export type LfsStorage = {
  newLocation(repoId: string, oid: string): string;
  /**
   * Each piece of `content` is valid until the next one is requested.
   * @param object without a hash if `content` verifies itself
   * @throws ServiceError `invalid_request` if the content does not match `object`, and is deleted
   */
  receive(location: string, object: AnnouncedContent, content: AsyncIterable<Uint8Array>): Promise<ReceivedContent>;
  /** @throws ServiceError `gone` if the content is lost */
  open(location: string, size: number, range?: ByteRange): Promise<Readable>;
  /**
   * Each piece is valid only until the next one is requested, so that a file of gigabytes leaves no garbage. A storage without this method
   * uses `open`.
   */
  scan?(location: string, range: ByteRange): AsyncGenerator<Uint8Array, void, undefined>;
  /** Only for a storage in files. */
  pathOf?(location: string): string;
  /** Deletes the content and an incomplete upload in parts, if there are any. */
  remove(location: string, uploadId?: string | null): Promise<void>;
  /** Checks whether the storage can be written to, read from and deleted from. @throws Error with the reason */
  probe(): Promise<void>;
  /** Set if clients can use the storage directly. */
  direct?: DirectTransfers;
};

export type DirectTransfers = {
  /** @param options.range the only range for which the URL is valid, and which the client has to request */
  downloadUrl(
    location: string,
    options: { seconds: number; fileName?: string; contentType?: string; range?: ByteRange },
  ): Promise<string>;
  /** For one request whose body has the object's size. The client has to send `header`. */
  uploadUrl(
    location: string,
    object: AnnouncedContent,
    seconds: number,
  ): Promise<{ href: string; header: Record<string, string> }>;
  /** @param before an upload to this location, which continues if the storage still knows it */
  startParts(location: string, object: LfsObjectId, seconds: number, before: string | null): Promise<PartsUpload>;
  endParts(location: string, uploadId: string): Promise<void>;
  /** May be repeated. @throws ServiceError `invalid_request` for missing parts */
  joinParts(location: string, uploadId: string, parts: readonly { partNumber: number; etag: string }[]): Promise<void>;
  /**
   * @param options.newSpare absent if nobody can write there now. Otherwise, content that we had to hash ourselves is copied to this
   * location, to which the client cannot write.
   * @returns the location now; undefined if nothing was uploaded
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

export async function* checkContent(
  content: AsyncIterable<Uint8Array>,
  { oid, size }: AnnouncedContent,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = oid === undefined ? undefined : createHash("sha256");
  let received = 0;
  for await (const chunk of content) {
    received += chunk.byteLength;
    if (received > size) throw invalidRequest(`The content is longer than the announced ${size} bytes.`);
    hash?.update(chunk);
    yield chunk;
  }
  if (received < size) throw invalidRequest(`The content ended after ${received} of ${size} bytes. Upload it again.`);
  if (hash?.digest("hex") !== oid) throw invalidRequest("The content does not match its SHA-256. Upload it again.");
}

export const lostContent = (cause?: unknown): ServiceError =>
  new ServiceError("gone", "The content of this file is no longer stored. Upload it again if you have it.", { cause });
