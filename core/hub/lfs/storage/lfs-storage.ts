import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { invalidRequest, ServiceError } from "../../../errors.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import type { LfsObjectId } from "../lfs-object.ts";

export type AnnouncedContent = { oid?: string; size: number };

export type ReceivedContent = {
  /** Call this under the location's lock, in the transaction that adds the content to a repository. */
  keep(): Promise<void>;
  discard(): Promise<void>;
};

/** A location begins with its storage's name, so that LFS_STORAGE can change. */
export type LfsStorage = {
  newLocation(repoId: string, oid: string): string;
  /** Each piece of `content` is valid until the next request. `object` has no hash if `content` verifies itself. */
  receive(location: string, object: AnnouncedContent, content: AsyncIterable<Uint8Array>): Promise<ReceivedContent>;
  /** @throws ServiceError `gone` if the content is lost */
  open(location: string, size: number, range?: ByteRange): Promise<Readable>;
  /** Each piece is valid until the next request. Without this method, use `open`. */
  scan?(location: string, range: ByteRange): AsyncGenerator<Uint8Array, void, undefined>;
  pathOf?(location: string): string;
  remove(location: string, uploadId?: string | null): Promise<void>;
  probe(): Promise<void>;
  direct?: DirectTransfers;
};

export type DirectTransfers = {
  /** @param options.range the only range for which the URL is valid */
  downloadUrl(
    location: string,
    options: { seconds: number; fileName?: string; contentType?: string; range?: ByteRange },
  ): Promise<string>;
  uploadUrl(
    location: string,
    object: AnnouncedContent,
    seconds: number,
  ): Promise<{ href: string; header: Record<string, string> }>;
  /** @param before the ID of an earlier upload to this location, which continues if the storage knows it */
  startParts(location: string, object: LfsObjectId, seconds: number, before: string | null): Promise<PartsUpload>;
  endParts(location: string, uploadId: string): Promise<void>;
  /** Safe to repeat. */
  joinParts(location: string, uploadId: string, parts: readonly { partNumber: number; etag: string }[]): Promise<void>;
  /**
   * @param options.newSpare a location for a copy of content that the service had to hash itself, because the client can still
   * write to `location`
   * @returns where the content is now, or undefined if nothing was uploaded
   */
  verify(
    location: string,
    object: LfsObjectId,
    /** `party` is the caller. `silenceMaxMs` is the longest pause of the bucket. */
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
