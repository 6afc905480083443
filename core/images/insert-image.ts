import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { IMAGE_CONTENT_TYPE } from "./encode-image.ts";

/** Keeps a picture that `encodeImage` made. @returns its id; what an id stands for never changes, so it may be cached for ever */
export async function insertImage(tx: Db, encoded: Uint8Array<ArrayBuffer>): Promise<string> {
  const id = newId();
  await tx.image.create({ data: { id, contentType: IMAGE_CONTENT_TYPE, bytes: encoded } });
  return id;
}
