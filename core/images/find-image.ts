import { db } from "../db.ts";
import { isId } from "../ids.ts";

export type StoredImage = { contentType: string; bytes: Uint8Array };

export async function findImage(id: string): Promise<StoredImage | undefined> {
  if (!isId(id)) return undefined;
  return (await db().image.findUnique({ where: { id }, select: { contentType: true, bytes: true } })) ?? undefined;
}
