import type { Db } from "../db.ts";
import { insertImage } from "./insert-image.ts";

/**
 * Replaces a picture by one from `encodeImage` (null for none), and deletes the old one.
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
