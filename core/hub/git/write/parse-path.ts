import { invalidRequest } from "../../../errors.ts";
import { PATH_MAX_NAMES } from "../read/tree-entries.ts";

const PATH_MAX_BYTES = 2_000;
const COMPONENT_MAX_BYTES = 255;
const SHOWN_CHARACTERS = 200;
// HFS+ ignores these characters when it compares names (see git's is_hfs_dotgit).
const IGNORED_BY_HFS = /[\u{200c}-\u{200f}\u{202a}-\u{202e}\u{206a}-\u{206f}\u{feff}]/gu;

/**
 * A path must mean the same on every machine, and must not be git's own folder (S137).
 * @returns the path in NFC
 */
export function parsePath(path: string): string {
  // Composing takes quadratic time for a run of combining characters (S138).
  const composed = typeof path === "string" && path.length <= PATH_MAX_BYTES ? path.normalize("NFC") : path;
  const problem = problemWith(composed);
  if (problem) throw invalidRequest(`The path ${shownPath(path)} ${problem}.`, "path");
  return composed;
}

export function parseExistingPath(path: string): string {
  const bare = typeof path === "string" ? path.replace(/(?<!\/)\/+$/, "") : "";
  const problem = bare === "" ? "is empty" : unusable(bare);
  if (problem) throw invalidRequest(`The path ${shownPath(path)} ${problem}.`, "path");
  return bare;
}

export function shownPath(path: unknown): string {
  const text = JSON.stringify(String(path).toWellFormed());
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS - 2)}…"`;
}

/** NTFS gives these short names to `.git`, and to files that git reads from a repository. */
const SHORT_NAMES = { "": /^git~1$/, modules: /^gitmod~\d$/, attributes: /^gitatt~\d$/ };

/** NTFS ignores case and shortens names. HFS+ ignores some characters. */
export function isDotGit(name: string, rest: keyof typeof SHORT_NAMES = ""): boolean {
  // NTFS reads `name:stream` as `name`, and drops dots and spaces at the end.
  const plain = (name.replace(IGNORED_BY_HFS, "").toLowerCase().split(":")[0] ?? "").replace(/(?<![. ])[. ]+$/, "");
  return plain === `.git${rest}` || SHORT_NAMES[rest].test(plain);
}

function problemWith(path: string): string | undefined {
  const wrong = unusable(path);
  if (wrong) return wrong;
  if (path.includes("\\")) return "has a backslash, which is a separator on some machines; use a slash";
  const names = path.split("/");
  if (names.length > PATH_MAX_NAMES) return `has more than ${PATH_MAX_NAMES} parts`;
  if (!/git/i.test(path.replace(IGNORED_BY_HFS, ""))) return undefined;
  if (names.some((name) => isDotGit(name))) return "has a part that is reserved for git";
  if (names.some((name) => isDotGit(name, "modules"))) return "is reserved for git submodules; add those with git";
  return undefined;
}

function unusable(path: unknown): string | undefined {
  if (typeof path !== "string" || path === "") return "is empty";
  if (!path.isWellFormed() || path.includes("\u{fffd}")) return "is not valid text";
  if (/\p{Cc}/u.test(path)) return "has control characters";
  if (Buffer.byteLength(path) > PATH_MAX_BYTES) return `is longer than ${PATH_MAX_BYTES.toLocaleString("en")} bytes`;
  const names = path.split("/");
  if (names.includes("")) return "has an empty part: remove leading, trailing and double slashes";
  if (names.some((name) => name === "." || name === "..")) return "has . or .. as a part, which leads elsewhere: remove it";
  if (names.some((name) => Buffer.byteLength(name) > COMPONENT_MAX_BYTES)) {
    return `has a part longer than ${COMPONENT_MAX_BYTES} bytes`;
  }
  return undefined;
}
