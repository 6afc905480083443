import { Transform } from "node:stream";
import { requestContext } from "../log.ts";
import { currentParty } from "./party.ts";

const AT_ONCE_BYTES = 128 * 1024;

/** Clones and downloads of anonymous callers must not take the cores from short requests (S137). */
export function sendInTurn(): Transform[] {
  const { sendAfter } = requestContext.getStore() ?? {};
  if (!sendAfter || !currentParty().isAnonymous) return [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const transform: Transform["_transform"] = (chunk: Buffer, _, done) => {
    bytes += chunk.length;
    const waitMs = bytes > AT_ONCE_BYTES ? sendAfter(chunk.length) : 0;
    if (waitMs > 0) timer = setTimeout(done, waitMs, null, chunk);
    else done(null, chunk);
  };
  const destroy: Transform["_destroy"] = (error, done) => {
    clearTimeout(timer);
    done(error);
  };
  return [new Transform({ transform, destroy })];
}
