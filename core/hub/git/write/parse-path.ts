import { ServiceError } from "../../../errors.ts";
import { PATH_MAX_NAMES } from "../read/tree-path.ts";

const PATH_MAX_BYTES = 2_000;
const COMPONENT_MAX_BYTES = 255;
const SHOWN_CHARACTERS = 200;
// What HFS+ leaves out when it compares names (git's is_hfs_dotgit).
const IGNORED_BY_HFS = /[\u{200c}-\u{200f}\u{202a}-\u{202e}\u{206a}-\u{206f}\u{feff}]/gu;

/**
 * The path of a file that is to be put into a repository, composed (NFC). It must mean the same on every machine that will check it
 * out: nothing outside of the repository, and nothing that a file system would take for git's own folder (S137).
 * @throws ServiceError `invalid_request` that names the path and what is wrong with it
 */
export function parsePath(path: string): string {
  const composed = typeof path === "string" ? path.normalize("NFC") : path;
  const problem = problemWith(composed);
  if (problem) throw new ServiceError("invalid_request", `The path ${shownPath(path)} ${problem}.`, { field: "path" });
  return composed;
}

/**
 * The path of something that is in a repository already, as it is spelled there; a slash at its end is left out.
 * @throws ServiceError `invalid_request`
 */
export function parseExistingPath(path: string): string {
  const bare = typeof path === "string" ? path.replace(/(?<!\/)\/+$/, "") : "";
  const problem = bare === "" ? "is empty" : unusable(bare);
  if (problem) throw new ServiceError("invalid_request", `The path ${shownPath(path)} ${problem}.`, { field: "path" });
  return bare;
}

/** A path as it is shown in a sentence: whole enough to be found, short enough to be read. */
export function shownPath(path: unknown): string {
  const text = JSON.stringify(String(path).toWellFormed());
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS - 2)}…"`;
}

/** Whether some file system would take `name` for `.git<rest>`: any case, what NTFS cuts off or shortens, what HFS+ ignores. */
export function isDotGit(name: string, rest = ""): boolean {
  // NTFS reads `name:stream` as a stream of `name`, and forgets dots and spaces at the end.
  const plain = (name.replace(IGNORED_BY_HFS, "").toLowerCase().split(":")[0] ?? "").replace(/(?<![. ])[. ]+$/, "");
  if (plain === `.git${rest}`) return true;
  return rest === "" ? plain === "git~1" : new RegExp(`^git${rest.slice(0, 3)}~\\d$`).test(plain);
}

function problemWith(path: string): string | undefined {
  const wrong = unusable(path);
  if (wrong) return wrong;
  if (path.includes("\\")) return "has a backslash, which is a separator on some machines; use a slash";
  const names = path.split("/");
  if (names.length > PATH_MAX_NAMES) return `has more than ${PATH_MAX_NAMES} parts`;
  if (names.some((name) => isDotGit(name))) return "has a part that git keeps for itself";
  if (names.some((name) => isDotGit(name, "modules"))) return "is where git keeps submodules; add those with git";
  return undefined;
}

/** What git itself could not have in a tree. */
function unusable(path: unknown): string | undefined {
  if (typeof path !== "string" || path === "") return "is empty";
  if (!path.isWellFormed() || path.includes("\u{fffd}")) return "is not valid text";
  if (/\p{Cc}/u.test(path)) return "has control characters";
  if (Buffer.byteLength(path) > PATH_MAX_BYTES) return `is longer than ${PATH_MAX_BYTES} bytes`;
  const names = path.split("/");
  if (names.includes("")) return "has an empty part: leave out slashes at the beginning, at the end and beside each other";
  if (names.some((name) => name === "." || name === "..")) return "leads elsewhere: leave out . and ..";
  if (names.some((name) => Buffer.byteLength(name) > COMPONENT_MAX_BYTES)) {
    return `has a part longer than ${COMPONENT_MAX_BYTES} bytes`;
  }
  return undefined;
}
