import type { Db } from "../db.ts";
import { encodeImage } from "./encode-image.ts";
import { insertImage } from "./insert-image.ts";

/**
 * Encodes and keeps an uploaded picture; it is served at `/images/<id>`. Inside a transaction encode first (`encodeImage`), so that
 * the database does not wait for the decoder.
 * @throws ServiceError `payload_too_large`, `invalid_request`
 */
export async function storeImage(tx: Db, bytes: Uint8Array, field?: string): Promise<string> {
  return insertImage(tx, await encodeImage(bytes, field));
}
