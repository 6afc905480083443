import { type Db, db } from "../db.ts";
import { isId, newId } from "../ids.ts";
import { IMAGE_CONTENT_TYPE } from "./encode-image.ts";

type StoredImage = { contentType: string; bytes: Uint8Array };

export async function findImage(id: string): Promise<StoredImage | undefined> {
  if (!isId(id)) return undefined;
  return (await db().image.findUnique({ where: { id }, select: { contentType: true, bytes: true } })) ?? undefined;
}

/** The picture of an ID never changes, so responses may be cached forever. */
export async function insertImage(tx: Db, encoded: Uint8Array<ArrayBuffer>): Promise<string> {
  const id = newId();
  await tx.image.create({ data: { id, contentType: IMAGE_CONTENT_TYPE, bytes: encoded } });
  return id;
}

export async function replaceImage(
  tx: Db,
  oldId: string | null,
  encoded: Uint8Array<ArrayBuffer> | null,
): Promise<string | null> {
  if (oldId) await tx.image.deleteMany({ where: { id: oldId } });
  return encoded ? insertImage(tx, encoded) : null;
}
