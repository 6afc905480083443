/** What is longer can be in a tree, and cloned, but is neither listed nor found here. */
export const PATH_MAX_BYTES = 4096;
const NOT_A_NAME = new Set(["", ".", ".."]);

/** Whether a text can be the path of something in a tree: what git would take for another place than it says is none (S137). */
export function isTreePath(path: string): boolean {
  return (
    Buffer.byteLength(path) <= PATH_MAX_BYTES && !path.includes("\0") && !path.split("/").some((name) => NOT_A_NAME.has(name))
  );
}
