import { repoPath } from "@keyhook/sdk";
import { isSigned, sign } from "../crypto/seal.ts";
import { env } from "../env.ts";
import type { Repo } from "../hub/repos/repo.ts";
import { isId } from "../ids.ts";

/** The path ends in a slash, so that relative links work (decision 057). */
export function appPath(repo: Pick<Repo, "fullName">): string {
  return `${repoPath("space", repo.fullName)}/app/`;
}

export const appUrl = (repo: Pick<Repo, "fullName">): string => env().ORIGIN + appPath(repo);

/** Pages of an app have no origin, so they have no cookies. The segment of the path that begins with `~` gives access. */
export type Visitor =
  /** The app can pass the URL on, so it expires after eight hours, when the session ends, or when any user loses access. */
  | { kind: "session"; sessionId: string; userId: string; generation: number }
  /** The URL is valid until it is revoked. */
  | { kind: "receiver"; generation: number };

const VISIT_SECONDS = 8 * 60 * 60;

export function visitorSegment(repoId: string, visitor: Visitor, now = Date.now()): string {
  const fields =
    visitor.kind === "session"
      ? [
          "s",
          visitor.sessionId,
          visitor.userId,
          (Math.floor(now / 1000) + VISIT_SECONDS).toString(36),
          visitor.generation.toString(36),
        ]
      : ["r", visitor.generation.toString(36)];
  return `~${fields.join(".")}.${sign(PURPOSE, `${repoId}\n${fields.join(".")}`)}`;
}

/** Also true for the segment of another Space, and for an expired one. */
export const isLikeVisitorSegment = (segment: string): boolean => /^~[rs](\.[0-9a-z]+)+\.[\w-]{43}$/.test(segment);

export function readVisitorSegment(repoId: string, segment: string, now = Date.now()): Visitor | undefined {
  if (!segment.startsWith("~") || segment.length > 200) return undefined;
  const end = segment.lastIndexOf(".");
  const fields = segment.slice(1, Math.max(end, 1));
  if (!isSigned(PURPOSE, `${repoId}\n${fields}`, segment.slice(end + 1))) return undefined;
  const [kind, ...rest] = fields.split(".");
  if (kind === "r") return { kind: "receiver", generation: Number.parseInt(rest[0] ?? "", 36) };
  const [sessionId, userId, until = "", generation = ""] = rest;
  if (kind !== "s" || !isId(sessionId) || !isId(userId) || Number.parseInt(until, 36) * 1000 < now) return undefined;
  return { kind: "session", sessionId, userId, generation: Number.parseInt(generation, 36) };
}

const PURPOSE = "space visitor";
