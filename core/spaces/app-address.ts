import { createHmac } from "node:crypto";
import { repoPath } from "@keyhook/sdk";
import { derivedKey } from "../crypto/seal.ts";
import { isEqualInConstantTime } from "../crypto/token.ts";
import { env } from "../env.ts";
import type { Repo } from "../hub/repos/repo.ts";
import { isId } from "../ids.ts";

/**
 * Where the app of a Space is: below its repository's page, where git, Git LFS and pages have nothing (docs/decisions/057-spaces.md).
 * It ends in a slash, so that what an app links to relatively stays within.
 */
export function appPath(repo: Pick<Repo, "fullName">): string {
  return `${repoPath("space", repo.fullName)}/app/`;
}

/** The same, absolute. */
export const appUrl = (repo: Pick<Repo, "fullName">): string => env().ORIGIN + appPath(repo);

/**
 * Who comes by the address of a private Space's app. Pages of an app run in a sandbox without an origin of their own, and so without
 * cookies; what is behind `~` in the path says who may be let in instead, for every request that the page makes.
 */
export type Visitor =
  /**
   * A person, for as long as the session lasts in which the address was made, and until anybody loses their access to the Space: the
   * app can hand the address on, and whoever was put out must not read by it.
   */
  | { kind: "session"; sessionId: string; userId: string; generation: number }
  /** Whoever was given the address for receivers, until it is taken back. */
  | { kind: "receiver"; generation: number };

/** How long an address that was made for a person's visit is good for. */
export const VISIT_SECONDS = 8 * 60 * 60;

/** The segment that stands for a visitor: `~` and a value that nobody else can make, for this Space alone. */
export function visitorSegment(repoId: string, visitor: Visitor, now = Date.now()): string {
  const said =
    visitor.kind === "session"
      ? [
          "s",
          visitor.sessionId,
          visitor.userId,
          (Math.floor(now / 1000) + VISIT_SECONDS).toString(36),
          visitor.generation.toString(36),
        ]
      : ["r", visitor.generation.toString(36)];
  return `~${said.join(".")}.${signature(repoId, said.join("."))}`;
}

/** Reads what `visitorSegment` made; undefined for anything else, and for what is over. */
export function readVisitorSegment(repoId: string, segment: string, now = Date.now()): Visitor | undefined {
  if (!segment.startsWith("~") || segment.length > 200) return undefined;
  const end = segment.lastIndexOf(".");
  const said = segment.slice(1, Math.max(end, 1));
  if (!isEqualInConstantTime(segment.slice(end + 1), signature(repoId, said))) return undefined;
  const [kind, ...rest] = said.split(".");
  if (kind === "r") return { kind: "receiver", generation: Number.parseInt(rest[0] ?? "", 36) };
  const [sessionId, userId, until = "", generation = ""] = rest;
  if (kind !== "s" || !isId(sessionId) || !isId(userId) || Number.parseInt(until, 36) * 1000 < now) return undefined;
  return { kind: "session", sessionId, userId, generation: Number.parseInt(generation, 36) };
}

function signature(repoId: string, said: string): string {
  return createHmac("sha256", derivedKey("space visitor")).update(`${repoId}\n${said}`).digest("base64url");
}
