import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Actor } from "#core/access/actor.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { isServiceError, notFound, ServiceError } from "#core/errors.ts";
import { log } from "#core/log.ts";
import { type AppTarget, type FoundApp, findApp } from "#core/spaces/door/find-app.ts";
import { actorOfToken } from "../../api/actor.ts";
import { cookieOf } from "../read-request.ts";

export function openApp(req: IncomingMessage, target: AppTarget): Promise<FoundApp> {
  const { authorization } = req.headers;
  const cookie = cookieOf(req, siteSessionCookie().name);
  return findApp(target, {
    method: req.method ?? "GET",
    ...(authorization && { byToken: () => byToken(authorization) }),
    ...(cookie && { bySession: () => findSiteSession(cookie) }),
  });
}

export function staysOpen(
  req: IncomingMessage,
  target: AppTarget,
  { repo, isOpen }: FoundApp & { kind: "app" },
): () => Promise<boolean> {
  const isTheSame = (now: FoundApp) => now.kind === "app" && now.repo.id === repo.id;
  const ask = async () => isTheSame(await openApp(req, target));
  const own = visitOf(req, target, repo.id);
  if (!isOpen) return () => askOnce(own, ask);
  const askForAll = async () => isTheSame(await findApp(target, { method: "GET" }));
  return async () => (await askOnce(repo.id, () => askForAll().catch(() => false))) || askOnce(own, ask);
}

/** The key is a hash, because tokens are not stored (S55). */
function visitOf(req: IncomingMessage, { rest }: AppTarget, repoId: string): string {
  const [, segment] = rest.split("/");
  const credentials = [req.headers.authorization, cookieOf(req, siteSessionCookie().name), segment, req.method];
  return createHash("sha256")
    .update(JSON.stringify([repoId, ...credentials]))
    .digest("base64url");
}

/** For this long, an answer counts for all connections of one visitor, or, if everybody may see the Space, of all visitors. */
const ANSWER_MS = 2_000;
const answers = new Map<string, Promise<boolean>>();

/** One visitor may have hundreds of lasting connections (S137). */
function askOnce(key: string, ask: () => Promise<boolean>): Promise<boolean> {
  const known = answers.get(key);
  if (known) return known;
  const answer = ask();
  answers.set(key, answer);
  setTimeout(() => answers.delete(key), ANSWER_MS).unref();
  return answer;
}

async function byToken(authorization: string): Promise<Actor> {
  const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  // Credentials for the app itself must not reveal that the Space exists.
  if (!token) throw notFound("Repository");
  return actorOfToken(token).catch((error: unknown) => {
    throw error instanceof ServiceError ? notFound("Repository") : error;
  });
}

const TRUST_MS = 5_000;

/**
 * A stream or a WebSocket may outlast its visitor's access to the Space.
 * @param mayStay ends the visit if it returns false or throws a ServiceError. Otherwise it is called again later
 * @returns a function that stops checking
 */
export function recheckVisit(mayStay: () => Promise<boolean>, end: () => void, trustMs = TRUST_MS): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout;
  async function ask(): Promise<void> {
    const isAllowed = await mayStay().catch((error: unknown) => {
      if (isServiceError(error)) return false;
      log().warn({ err: error }, "the access of a Space's visitor cannot be checked; trying again");
      return true;
    });
    if (isOver) return;
    if (isAllowed) askLater();
    else end();
  }
  const askLater = () => {
    timer = setTimeout(() => void ask(), trustMs).unref();
  };
  askLater();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
