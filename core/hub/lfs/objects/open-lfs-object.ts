import type { Readable } from "node:stream";
import { notFound } from "../../../errors.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import { downloads } from "../../git/queues.ts";
import type { Repo } from "../../repos/repo.ts";
import { openXetFile, xetHashAt } from "../../xet/read-file.ts";
import type { LfsObjectId } from "../lfs-object.ts";
import { findReadableLfsObject } from "../proposals/proposed-files.ts";
import { storageOf } from "../storage/storages.ts";
import type { StoredLfsObject } from "./find-lfs-object.ts";

const DOWNLOAD_SECONDS = 60 * 60;

/**
 * The caller must have checked `repo.read_content`, and must end the stream, because the request holds a slot for it (S137).
 * @param pointer announces the size of the stream
 */
export async function openLfsObject(
  repo: Pick<Repo, "id">,
  pointer: LfsObjectId,
  { range }: { range?: ByteRange } = {},
): Promise<Readable> {
  const object = await findObject(repo, pointer);
  await downloads.takeUntilAnswered({ within: repo.id });
  const xetHash = xetHashAt(object.location);
  if (xetHash !== undefined) return openXetFile(object.holderId, xetHash, range);
  return storageOf(object.location).open(object.location, object.size, range);
}

/**
 * A commit over the API can contain any pointer. A wrong size would let a client read the end of this response as the next one
 * (S137).
 */
async function findObject({ id }: Pick<Repo, "id">, { oid, size }: LfsObjectId): Promise<StoredLfsObject> {
  const object = await findReadableLfsObject(id, oid);
  if (object?.size !== size) throw notFound("Entry");
  return object;
}

export async function lfsDownloadUrl(
  repo: Pick<Repo, "id">,
  pointer: LfsObjectId,
  options: { fileName?: string; contentType?: string } = {},
): Promise<string | undefined> {
  const object = await findObject(repo, pointer);
  if (xetHashAt(object.location) !== undefined) return undefined;
  const { direct } = storageOf(object.location);
  return direct?.downloadUrl(object.location, { seconds: DOWNLOAD_SECONDS, ...options });
}
