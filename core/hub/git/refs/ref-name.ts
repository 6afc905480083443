import { invalidRequest } from "../../../errors.ts";

/** A ref's lock is `<name>.lock`, and a file name has at most 255 bytes. */
const COMPONENT_MAX_BYTES = 250;
const NAME_MAX_BYTES = 400;
/** S137: all components but the last are folders on the disk. */
const COMPONENTS_MAX = 16;
const CONTROL = /\p{Cc}/u;
// What git-check-ref-format refuses anywhere in a name.
const FORBIDDEN = /[ ~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$/;

export function branchRef(branch: string): string {
  requireRefName(branch, "branch");
  return `refs/heads/${branch}`;
}

export function tagRef(tag: string): string {
  requireRefName(tag, "tag");
  return `refs/tags/${tag}`;
}

export function isRefName(name: string): boolean {
  if (name === "" || Buffer.byteLength(name) > NAME_MAX_BYTES || !name.isWellFormed()) return false;
  if (CONTROL.test(name) || FORBIDDEN.test(name) || name.startsWith("-")) return false;
  // Git would read such a name as a full name, a commit or a keyword.
  if (/^refs\//.test(name) || /^[0-9a-f]{40}$/i.test(name) || name === "@" || name === "HEAD") return false;
  return name
    .split("/")
    .every((part) => !part.startsWith(".") && !part.endsWith(".lock") && Buffer.byteLength(part) <= COMPONENT_MAX_BYTES);
}

export const isNewRefName = (name: string): boolean => isRefName(name) && name.split("/").length <= COMPONENTS_MAX;

export function requireNewRefName(name: string, field: "branch" | "tag"): void {
  if (!isNewRefName(name)) throw invalidName(field);
}

function requireRefName(name: string, field: "branch" | "tag"): void {
  if (!isRefName(name)) throw invalidName(field);
}

const invalidName = (field: "branch" | "tag") =>
  invalidRequest(
    `This cannot be the name of a ${field}: use letters, digits, dots, dashes, underscores and at most ${COMPONENTS_MAX - 1} single slashes.`,
    field,
  );

/** `ref` is a full name, and a SHA has 40 hex digits. Null for a missing ref. */
export type RefChange = { ref: string; oldSha: string | null; newSha: string | null };
