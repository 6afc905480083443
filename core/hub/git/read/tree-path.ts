/** What is longer, or nested deeper, can be in a tree, and cloned, but is neither listed nor found here: each folder on the way is read (S137). */
export const PATH_MAX_BYTES = 4096;
export const PATH_MAX_NAMES = 200;
const NOT_A_NAME = new Set(["", ".", ".."]);

/** Whether a text can be the path of something in a tree: what git would take for another place than it says is none (S137). */
export function isTreePath(path: string): boolean {
  if (Buffer.byteLength(path) > PATH_MAX_BYTES || path.includes("\0")) return false;
  const names = path.split("/");
  return names.length <= PATH_MAX_NAMES && !names.some((name) => NOT_A_NAME.has(name));
}
