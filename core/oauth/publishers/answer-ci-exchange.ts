import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { consumeAddressThrottle } from "#core/accounts/throttle.ts";
import { isServiceError } from "#core/errors.ts";
import { ACCESS_TOKEN_TYPE } from "../exchange/token-exchange.ts";
import { ProtocolError } from "../protocol-request.ts";
import { exchangeIdToken } from "./exchange-id-token.ts";
import { quoted, type UnprovenIdToken } from "./id-token.ts";
import { readCiRequest } from "./read-ci-request.ts";

/** Many jobs may come from one address: a provider's runners, or an office's. */
const OF_ADDRESS = { limit: 300, windowSeconds: 60 };
/** Refusals take a multiple of this, which is longer than any without outside requests: timing must not reveal how far a token got. */
const REFUSAL_MS = 150;

/**
 * The exchange of a CI job's ID token for an access token (docs/specification/organizations-and-tokens.md#trusted-publishers, S98–S100):
 * without a client, for one resource, for one hour, without a refresh token.
 */
export async function answerCiExchange(
  req: IncomingMessage,
  res: ServerResponse,
  form: URLSearchParams,
  clientAddress: string,
): Promise<void> {
  const startedAt = performance.now();
  const request = readCiRequest(form);
  const from = { ip: clientAddress, userAgent: req.headers["user-agent"] ?? null };
  const outcome = await limited(async () => {
    await consumeAddressThrottle("ci_exchange", clientAddress, OF_ADDRESS);
    return exchangeIdToken(request, from);
  });
  if ("refused" in outcome) {
    await sleep(REFUSAL_MS - ((performance.now() - startedAt) % REFUSAL_MS));
    throw new ProtocolError(400, "invalid_grant", outcome.flaw ?? notTrusted(outcome.refused));
  }
  const body = {
    access_token: outcome.token,
    token_type: "bearer",
    expires_in: outcome.expiresInSeconds,
    issued_token_type: ACCESS_TOKEN_TYPE,
    ...("username" in request.target && { scope: "gated-repos" }),
  };
  res.writeHead(200, {
    "Content-Type": "application/json; charset=utf-8",
    "Cache-Control": "no-store",
    Pragma: "no-cache",
    "Access-Control-Allow-Origin": "*",
  });
  res.end(JSON.stringify(body));
}

/** RFC 6749 has no code for it: this is the one that all of these endpoints use (failure-throttle.ts). */
async function limited<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isServiceError(error) || error.code !== "rate_limited") throw error;
    throw new ProtocolError(429, "temporarily_unavailable", error.message, { "Retry-After": String(error.retryAfterSeconds) });
  }
}

/** The claims by which providers identify their jobs: those that a user would compare with the settings. */
const TELLING = [
  ...["repository", "repository_id", "repository_owner_id", "workflow_ref", "project_path", "project_id", "namespace_id"],
  ...["ref", "environment", "oidc.circleci.com/project-id", "oidc.circleci.com/vcs-ref", "repositoryUuid", "workspaceUuid"],
  ...["branchName", "sub"],
];
const TOLD_MAX = 8;

/**
 * One response for a resource that does not exist, trusts nobody, trusts others, or is a disabled account (S136). It contains only the
 * token's own claims, which the job's author needs to compare with the settings.
 */
function notTrusted({ issuer, claims }: UnprovenIdToken): string {
  const told = TELLING.filter((name) => Object.hasOwn(claims, name)).slice(0, TOLD_MAX);
  const words = [`iss ${quoted(issuer)}`, ...told.map((name) => `${name} ${quoted(claims[name])}`)];
  return `no trusted publisher of this resource matches the token, which says: ${words.join(", ")}`;
}
