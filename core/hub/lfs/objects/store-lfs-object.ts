import { notFound } from "../../../errors.ts";
import { holdStorage } from "../../../storage/hold-storage.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { LfsObjectId } from "../lfs-object.ts";
import { lfsStorage } from "../storage/storages.ts";
import { noteLfsLeftover, recordLfsObject } from "./record-lfs-object.ts";

/**
 * Takes an object's content and gives it to a repository. Permission was asked before; nothing is left of content that is not what
 * its hash says or that ended half-way.
 * @throws ServiceError `invalid_request` for other content than announced, `not_found`, `forbidden`, `storage_full`, `unavailable` (the
 * disk is full)
 */
export async function storeLfsObject(repoId: string, object: LfsObjectId, content: AsyncIterable<Uint8Array>): Promise<void> {
  const repo = await readRepo(repoId);
  if (!repo) throw notFound("Repository");
  // Room is asked for again after the batch answer, since that was up to a day ago; and put aside, since many may be under way.
  const hold = await holdStorage(repo.owner, object.size, "this file");
  try {
    const storage = lfsStorage();
    const location = storage.newLocation(repoId, object.oid);
    await noteLfsLeftover(location);
    const received = await storage.receive(location, object, content);
    try {
      await recordLfsObject(repoId, object, location, { keep: received.keep, holdId: hold.id });
    } catch (error) {
      await received.discard();
      throw error;
    }
  } finally {
    await hold.release();
  }
}
