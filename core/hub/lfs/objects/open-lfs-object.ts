import type { Readable } from "node:stream";
import { notFound } from "../../../errors.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import { downloads } from "../../git/queues.ts";
import type { Repo } from "../../repos/repo.ts";
import { openXetFile, xetHashAt } from "../../xet/read-file.ts";
import { findReadableLfsObject } from "../proposals/proposed-files.ts";
import { storageOf } from "../storage/storages.ts";

const DOWNLOAD_SECONDS = 60 * 60;

/** The caller must have checked `repo.read_content`, and must end the stream, for which the request keeps a slot (S137). */
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

/** @returns undefined if this service has to send the content itself */
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
