import type { IncomingMessage } from "node:http";
import type { Actor } from "#core/access/actor.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import type { AppTarget } from "#core/spaces/door/app-target.ts";
import { type FoundApp, findApp } from "#core/spaces/door/find-app.ts";
import { actorOfToken } from "../../api/actor.ts";
import { cookieOf } from "../cookie-of.ts";

/** Finds the app that a request is for, with the request's credentials. @throws ServiceError */
export function openApp(req: IncomingMessage, target: AppTarget): Promise<FoundApp> {
  const { authorization } = req.headers;
  const cookie = cookieOf(req, siteSessionCookie().name);
  return findApp(target, {
    method: req.method ?? "GET",
    ...(authorization && { byToken: () => byToken(authorization) }),
    ...(cookie && { bySession: () => findSiteSession(cookie) }),
  });
}

/** Whether an admitted visitor still has access to the same app, with the original credentials; checked anew each time. */
export function staysOpen(
  req: IncomingMessage,
  target: AppTarget,
  { repo, isOpen }: FoundApp & { kind: "app" },
): () => Promise<boolean> {
  const isTheSame = (now: FoundApp) => now.kind === "app" && now.repo.id === repo.id;
  const ask = async () => isTheSame(await openApp(req, target));
  if (!isOpen) return ask;
  return async () => (await askForAll(repo.id, async () => isTheSame(await findApp(target, { method: "GET" })))) || ask();
}

/** How long the result of whether everybody may visit a Space is cached. */
const FOR_ALL_MS = 2_000;
const forAll = new Map<string, Promise<boolean>>();

/** Checks once for all visitors of a Space that is open to everybody: a stranger may have hundreds of lasting connections (S137). */
function askForAll(repoId: string, ask: () => Promise<boolean>): Promise<boolean> {
  const answer = forAll.get(repoId) ?? ask().catch(() => false);
  if (forAll.has(repoId)) return answer;
  forAll.set(repoId, answer);
  setTimeout(() => forAll.delete(repoId), FOR_ALL_MS).unref();
  return answer;
}

async function byToken(authorization: string): Promise<Actor> {
  const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  // Credentials for the app itself are not ours: the response must not reveal that the Space exists.
  if (!token) throw notFound("Repository");
  return actorOfToken(token).catch((error: unknown) => {
    throw error instanceof ServiceError ? notFound("Repository") : error;
  });
}
