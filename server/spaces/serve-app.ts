import type { IncomingMessage, ServerResponse } from "node:http";
import { repoPath } from "@keyhook/sdk";
import { isDatabaseDown } from "#core/db.ts";
import { isServiceError } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { requestContext } from "#core/log.ts";
import { preflightHeaders, sandboxHeaders } from "#core/spaces/door/app-headers.ts";
import { parseAppTarget } from "#core/spaces/door/app-target.ts";
import type { FoundApp } from "#core/spaces/door/find-app.ts";
import { readSpaceConfig } from "#core/spaces/space-config.ts";
import { limitBody } from "../limit-body.ts";
import type { Target } from "../parse-target.ts";
import { keepAsking } from "./keep-asking.ts";
import { openApp, staysOpen } from "./open-app.ts";
import { passToApp } from "./pass-to-app.ts";
import { type AppFailure, sendAppFailure } from "./send-app-failure.ts";
import { sendStaticFile } from "./send-static-file.ts";

/** The largest body sent to an app. */
export const APP_REQUEST_MAX_BYTES = 100 * 1024 * 1024;

/** The door of the apps of Spaces: `/spaces/{owner}/{name}/app/…` (docs/decisions/057-spaces.md). */
export async function serveApp(req: IncomingMessage, res: ServerResponse, target: Target & { ip: string | null }): Promise<void> {
  for (const [name, value] of Object.entries(sandboxHeaders)) res.setHeader(name, value);
  const wanted = parseAppTarget(target.pathname);
  if (!wanted) return sendAppFailure(req, res, malformed);
  // A service worker would stay and answer for whole paths of our origin (Service Workers §6).
  if (req.headers["service-worker"] !== undefined) return sendAppFailure(req, res, noServiceWorkers);
  if (req.method === "OPTIONS" && req.headers["access-control-request-method"] !== undefined) {
    res.writeHead(204, { ...sandboxHeaders, ...preflightHeaders(req.headers) }).end();
    return;
  }
  let app: FoundApp;
  try {
    app = await openApp(req, wanted);
  } catch (error) {
    return sendAppFailure(req, res, failureOf(error));
  }
  if (app.kind === "elsewhere") {
    res.writeHead(302, { ...sandboxHeaders, Location: app.path + target.search, "Cache-Control": "no-store" }).end();
    return;
  }
  limitBody(
    req,
    () => APP_REQUEST_MAX_BYTES,
    () => sendAppFailure(req, res, tooLarge),
  );
  if (res.writableEnded) return;
  const config = readSpaceConfig(app.repo);
  if (config.kind === "static") {
    return sendStaticFile(req, res, app, config).catch((error: unknown) => sendAppFailure(req, res, failureOf(error)));
  }
  const requestId = requestContext.getStore()?.requestId ?? newId();
  const stopAsking = keepAsking(staysOpen(req, wanted, app), () => res.destroy());
  const failure = await passToApp(req, res, app, { path: app.path + target.search, ip: target.ip, requestId }).finally(
    stopAsking,
  );
  if (failure) sendAppFailure(req, res, { pagePath: repoPath("space", app.repo.fullName), ...failure });
}

export function failureOf(error: unknown): AppFailure {
  if (isDatabaseDown(error)) return unavailable;
  if (!isServiceError(error)) throw error;
  if (error.code === "not_found" || error.code === "unauthorized") return notThere;
  const { status, code, message, retryAfterSeconds } = error;
  if (code === "unavailable") return { ...busy, text: message, ...(retryAfterSeconds && { retryAfter: retryAfterSeconds }) };
  return { status, error: code, title: "You cannot open this Space", text: message };
}

const malformed: AppFailure = {
  status: 400,
  error: "invalid_request",
  title: "That address is not valid",
  text: "Open the Space from its page.",
};
const noServiceWorkers: AppFailure = {
  status: 403,
  error: "forbidden",
  title: "No service workers",
  text: "An app of a Space cannot install one: it would answer for more than itself.",
};
/** Whether it exists and they may not see it, or does not exist (S136). */
const notThere: AppFailure = {
  status: 404,
  error: "not_found",
  title: "There is no such Space here",
  text: "Perhaps its name is spelled otherwise, or it is private and you are not signed in.",
};
const tooLarge: AppFailure = {
  status: 413,
  error: "payload_too_large",
  title: "That is too large",
  text: `A Space is sent at most ${APP_REQUEST_MAX_BYTES / 1024 ** 2} MiB at once.`,
};
/** A read of a static Space's file that got no slot (core/fair-queue). */
const busy = { status: 503, error: "unavailable", title: "Too much is asked for at once" };
export const unavailable: AppFailure = {
  status: 503,
  error: "unavailable",
  title: "Not reachable for a moment",
  text: "The service cannot reach its database. Nothing is lost: try again in a few seconds.",
  retryAfter: 2,
};
