/** A longer or deeper path can be in a tree and be cloned, but is neither listed nor found here: each folder on the way is read (S137). */
export const PATH_MAX_BYTES = 4096;
export const PATH_MAX_NAMES = 200;
const NOT_A_NAME = new Set(["", ".", ".."]);

/** Whether a text can be a path in a tree; false for a path that git would resolve to another place (S137). */
export function isTreePath(path: string): boolean {
  if (Buffer.byteLength(path) > PATH_MAX_BYTES || path.includes("\0")) return false;
  const names = path.split("/");
  return names.length <= PATH_MAX_NAMES && !names.some((name) => NOT_A_NAME.has(name));
}
