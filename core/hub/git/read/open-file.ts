import { Readable } from "node:stream";
import { SMALL_BODY_BYTES } from "../../../fair-queue/body-budget.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import { openLfsObject } from "../../lfs/objects/open-lfs-object.ts";
import type { Repo } from "../../repos/repo.ts";
import { type FoundFile, streamBlob } from "./find-file.ts";

/**
 * The options of `findFile` before `openFile`. What is sent from memory stays there until its reader has taken it, so larger files
 * come from git piece by piece, to readers with a slot (S137).
 */
export const TO_OPEN = { maxBytes: SMALL_BODY_BYTES, startMaxBytes: 1024 * 1024 };

/**
 * The bytes of a file, or a range of them: the content of a file in Git LFS, unless the pointer is requested. A stream must be read
 * or destroyed.
 * @param file found with `TO_OPEN`, for somebody who may read content
 * @throws ServiceError `not_found` or `gone` if Git LFS does not have the content
 */
export async function openFile(
  repo: Repo,
  file: FoundFile,
  { range, isPointer = false }: { range?: ByteRange; isPointer?: boolean },
): Promise<Buffer | Readable> {
  const { entry, bytes } = file;
  if (entry.lfs && !isPointer) return (await openLfsObject(repo, entry.lfs.oid, { range })).stream;
  if (bytes) return range ? bytes.subarray(range.start, range.end + 1) : bytes;
  const all = await streamBlob(repo, entry.oid);
  return range ? sliceOf(all, range) : all;
}

/** Git sends a file from its beginning: the bytes before the range are dropped, and those after it are not awaited. */
function sliceOf(all: Readable, { start, end }: ByteRange): Readable {
  async function* wanted() {
    let at = 0;
    for await (const chunk of all as AsyncIterable<Buffer>) {
      const part = chunk.subarray(Math.max(start - at, 0), Math.max(end + 1 - at, 0));
      at += chunk.length;
      if (part.length > 0) yield part;
      if (at > end) return;
    }
  }
  const slice = Readable.from(wanted(), { objectMode: false });
  // A slice that nobody reads never starts, and so would never end its source.
  return slice.once("close", () => all.destroy());
}
