import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { IMAGE_CONTENT_TYPE } from "./encode-image.ts";

/** Stores a picture made by `encodeImage`. @returns its id; the picture of an id never changes, so it may be cached forever */
export async function insertImage(tx: Db, encoded: Uint8Array<ArrayBuffer>): Promise<string> {
  const id = newId();
  await tx.image.create({ data: { id, contentType: IMAGE_CONTENT_TYPE, bytes: encoded } });
  return id;
}
