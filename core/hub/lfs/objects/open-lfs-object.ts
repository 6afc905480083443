import type { Readable } from "node:stream";
import { notFound } from "../../../errors.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import { downloads } from "../../git/queues.ts";
import type { Repo } from "../../repos/repo.ts";
import { storageOf } from "../storage/storages.ts";
import { findLfsObject } from "./find-lfs-object.ts";

/** How long an address in storage itself is good for. */
export const DOWNLOAD_SECONDS = 60 * 60;

/**
 * Opens an object of a repository, whole or from byte to byte. Whoever asks has been allowed to read the content
 * (`repo.read_content`). The stream has to be read or destroyed. It holds a file or a connection for as long as somebody reads, so that
 * the current request has a place until it has been answered (S137).
 * @throws ServiceError `not_found` for what the repository does not have, `gone` when its bytes are lost, `unavailable`
 */
export async function openLfsObject(
  repo: Pick<Repo, "id">,
  oid: string,
  { range }: { range?: ByteRange } = {},
): Promise<{ size: number; stream: Readable }> {
  const object = await findLfsObject(repo.id, oid);
  if (!object) throw notFound("Entry");
  await downloads.takeUntilAnswered({ within: repo.id });
  return { size: object.size, stream: await storageOf(object.location).open(object.location, object.size, range) };
}

/**
 * An address in storage itself from which an object can be read for an hour without anything else, to redirect to; undefined when
 * its bytes have to be sent by us (`openLfsObject`), as from the local storage.
 * @throws ServiceError `not_found` for what the repository does not have
 */
export async function lfsDownloadAddress(
  repo: Pick<Repo, "id">,
  oid: string,
  options: { fileName?: string; contentType?: string } = {},
): Promise<string | undefined> {
  const object = await findLfsObject(repo.id, oid);
  if (!object) throw notFound("Entry");
  const { direct } = storageOf(object.location);
  return direct?.downloadAddress(object.location, { seconds: DOWNLOAD_SECONDS, ...options });
}
