import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** Names a file without opening it (open(2)); Node does not export it. */
const O_PATH = 0o10000000;

export type PinnedSocket = { path: string; release(): Promise<void> };

/**
 * A path that leads to the socket that is there now and to nothing else. The folder that it lies in belongs to a sandbox, which may put
 * a link in its place at any time: followed, that would lead to whatever else listens on this machine (S132).
 * @returns undefined while there is no socket
 */
export async function pinSocket(path: string): Promise<PinnedSocket | undefined> {
  const file = await open(path, O_PATH | constants.O_NOFOLLOW).catch(() => undefined);
  if (!file) return undefined;
  const isSocket = await file.stat().then(
    (found) => found.isSocket(),
    () => false,
  );
  if (isSocket) return { path: `/proc/self/fd/${file.fd}`, release: () => file.close() };
  await file.close();
  return undefined;
}
