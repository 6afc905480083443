import type { Db } from "../db.ts";
import { insertImage } from "./insert-image.ts";

/**
 * Puts a picture, from `encodeImage`, in the place of another, which is deleted; null for none.
 * @returns the id of the new one, or null
 */
export async function replaceImage(
  tx: Db,
  oldId: string | null,
  encoded: Uint8Array<ArrayBuffer> | null,
): Promise<string | null> {
  if (oldId) await tx.image.deleteMany({ where: { id: oldId } });
  return encoded ? insertImage(tx, encoded) : null;
}
