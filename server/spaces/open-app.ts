import type { IncomingMessage } from "node:http";
import type { Actor } from "#core/access/actor.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import type { AppTarget } from "#core/spaces/door/app-target.ts";
import { type FoundApp, findApp } from "#core/spaces/door/find-app.ts";
import { actorOfToken } from "../../api/actor.ts";
import { cookieOf } from "../cookie-of.ts";

/** Finds the app that a request is for, with what it brings to say who asks. @throws ServiceError */
export function openApp(req: IncomingMessage, target: AppTarget): Promise<FoundApp> {
  const { authorization } = req.headers;
  const cookie = cookieOf(req, siteSessionCookie().name);
  return findApp(target, {
    method: req.method ?? "GET",
    ...(authorization && { byToken: () => byToken(authorization) }),
    ...(cookie && { bySession: () => findSiteSession(cookie) }),
  });
}

/** Whether who was let in is still let in to the same, by what they brought then; asked anew each time. */
export function staysOpen(req: IncomingMessage, target: AppTarget, { repo }: FoundApp & { kind: "app" }): () => Promise<boolean> {
  return async () => {
    const now = await openApp(req, target);
    return now.kind === "app" && now.repo.id === repo.id;
  };
}

async function byToken(authorization: string): Promise<Actor> {
  const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  // What an app itself takes as a password is none of ours: that the Space is there is not told by it.
  if (!token) throw notFound("Repository");
  return actorOfToken(token).catch((error: unknown) => {
    throw error instanceof ServiceError ? notFound("Repository") : error;
  });
}
