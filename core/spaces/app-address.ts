import { repoPath } from "@keyhook/sdk";
import { isSigned, sign } from "../crypto/seal.ts";
import { env } from "../env.ts";
import type { Repo } from "../hub/repos/repo.ts";
import { isId } from "../ids.ts";

/** The path of a Space's app, which nothing else below its repository uses. With a slash, for relative links (decision 057). */
export function appPath(repo: Pick<Repo, "fullName">): string {
  return `${repoPath("space", repo.fullName)}/app/`;
}

/** The absolute URL of a Space's app. */
export const appUrl = (repo: Pick<Repo, "fullName">): string => env().ORIGIN + appPath(repo);

/**
 * The visitor of a private Space's app, whom the URL identifies. Pages of an app run in a sandbox without an origin of their own, and so
 * without cookies. Instead, the segment of the path that begins with `~` gives access, for every request of the page.
 */
type Visitor =
  /**
   * A user. The URL is valid as long as the session in which it was made, and until any user loses access to the Space: the app can pass
   * the URL on, and a user without access must not read through it.
   */
  | { kind: "session"; sessionId: string; userId: string; generation: number }
  /** The holder of the URL for receivers, until it is revoked. */
  | { kind: "receiver"; generation: number };

/** How long a URL made for a user's visit is valid. */
const VISIT_SECONDS = 8 * 60 * 60;

/** The segment that identifies a visitor: `~` and a value that nobody else can make, for this Space only. */
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

/** Reads what `visitorSegment` made; undefined for anything else, and if it expired. */
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
