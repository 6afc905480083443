import { createHash } from "node:crypto";
import { ServiceError } from "../../../errors.ts";
import type { LfsObjectId } from "../lfs-object.ts";

/**
 * Lets content through while it counts and hashes it.
 * @throws ServiceError `invalid_request`, as soon as it is longer than it should be, or at its end when it is not what was announced
 */
export async function* checkContent(
  content: AsyncIterable<Uint8Array>,
  { oid, size }: LfsObjectId,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash("sha256");
  let received = 0;
  for await (const chunk of content) {
    received += chunk.byteLength;
    if (received > size) throw refuse(`The content is longer than the ${size} bytes that were announced.`);
    hash.update(chunk);
    yield chunk;
  }
  if (received < size) throw refuse(`The content ended after ${received} of ${size} bytes. Upload it again.`);
  if (hash.digest("hex") !== oid) throw refuse("The content is not what its SHA-256 says. Upload it again.");
}

const refuse = (sentence: string): ServiceError => new ServiceError("invalid_request", sentence);
