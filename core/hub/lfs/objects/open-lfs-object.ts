import type { Readable } from "node:stream";
import { notFound } from "../../../errors.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import { downloads } from "../../git/queues.ts";
import type { Repo } from "../../repos/repo.ts";
import { openXetFile, xetHashAt } from "../../xet/read-file.ts";
import { findReadableLfsObject } from "../proposals/proposed-files.ts";
import { storageOf } from "../storage/storages.ts";

/** How long a download URL of the storage is valid. */
const DOWNLOAD_SECONDS = 60 * 60;

/**
 * Opens an object of a repository or of its pull requests, or a range of it. The caller has checked `repo.read_content`, and must
 * read or destroy the stream. The stream holds a file or a connection meanwhile, so the current request holds a slot until it has been
 * answered (S137).
 * @throws ServiceError `not_found` if the repository does not have it, `gone` if its content is lost, `unavailable`
 */
export async function openLfsObject(
  repo: Pick<Repo, "id">,
  oid: string,
  { range }: { range?: ByteRange } = {},
): Promise<{ size: number; stream: Readable }> {
  const object = await findReadableLfsObject(repo.id, oid);
  if (!object) throw notFound("Entry");
  await downloads.takeUntilAnswered({ within: repo.id });
  const xetHash = xetHashAt(object.location);
  if (xetHash !== undefined) return { size: object.size, stream: await openXetFile(object.holderId, xetHash, range) };
  return { size: object.size, stream: await storageOf(object.location).open(object.location, object.size, range) };
}

/**
 * A URL of the storage, valid for an hour, to redirect to; undefined if we have to send the content ourselves (`openLfsObject`).
 * @throws ServiceError `not_found` if the repository does not have it
 */
export async function lfsDownloadUrl(
  repo: Pick<Repo, "id">,
  oid: string,
  options: { fileName?: string; contentType?: string } = {},
): Promise<string | undefined> {
  const object = await findReadableLfsObject(repo.id, oid);
  if (!object) throw notFound("Entry");
  if (xetHashAt(object.location) !== undefined) return undefined;
  const { direct } = storageOf(object.location);
  return direct?.downloadUrl(object.location, { seconds: DOWNLOAD_SECONDS, ...options });
}
