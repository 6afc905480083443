import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isRepoType, type RepoType, repoTypeOfSegment } from "@keyhook/sdk";
import { consumeAddressThrottle } from "#core/accounts/throttle.ts";
import { isServiceError } from "#core/errors.ts";
import { ACCESS_TOKEN_TYPE, ID_TOKEN_TYPE, TOKEN_EXCHANGE_GRANT } from "../grant-types.ts";
import { ProtocolError } from "../protocol-request.ts";
import { exchangeIdToken } from "./exchange-id-token.ts";
import { quoted, type UnprovenIdToken } from "./id-token.ts";

/** A provider's runners may share one address. Exchanges that succeed do not count. */
const OF_ADDRESS = { limit: 300, windowSeconds: 60 };
/** A refusal takes a multiple of this time, so the time does not reveal which check failed. */
const REFUSAL_MS = 150;

/** See docs/specification/organizations-and-tokens.md#trusted-publishers, S98–S100. */
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
    const counted = await consumeAddressThrottle("ci_exchange", clientAddress, OF_ADDRESS);
    const exchanged = await exchangeIdToken(request, from);
    if ("token" in exchanged) await Promise.all(counted.map(({ giveBack }) => giveBack()));
    return exchanged;
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

/** RFC 6749 has no code for a rate limit, so the error is the same as in failure-throttle.ts. */
async function limited<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isServiceError(error) || error.code !== "rate_limited") throw error;
    throw new ProtocolError(429, "temporarily_unavailable", error.message, { "Retry-After": String(error.retryAfterSeconds) });
  }
}

/** The error shows these claims, so that users can compare them with the publisher's settings. */
const IDENTIFYING_CLAIMS = [
  ...["repository", "repository_id", "repository_owner_id", "workflow_ref", "project_path", "project_id", "namespace_id"],
  ...[
    "ref",
    "ref_path",
    "environment",
    "pipeline_source",
    "oidc.circleci.com/project-id",
    "oidc.circleci.com/vcs-origin",
    "oidc.circleci.com/vcs-ref",
    "repositoryUuid",
    "workspaceUuid",
  ],
  ...["branchName", "sub"],
];
const SHOWN_CLAIMS_MAX = 8;

/** One response for every reason (S136). */
function notTrusted({ issuer, claims }: UnprovenIdToken): string {
  const shown = IDENTIFYING_CLAIMS.filter((name) => Object.hasOwn(claims, name)).slice(0, SHOWN_CLAIMS_MAX);
  const words = [`iss ${quoted(issuer)}`, ...shown.map((name) => `${name} ${quoted(claims[name])}`)];
  return `no trusted publisher of this resource matches the token, which says: ${words.join(", ")}`;
}

/** See docs/specification/organizations-and-tokens.md#trusted-publishers. */
export function isCiExchange({ headers }: Pick<IncomingMessage, "headers">, form: URLSearchParams): boolean {
  return (
    form.get("grant_type") === TOKEN_EXCHANGE_GRANT &&
    // Without the type, the error should name the type and not ask for a client.
    (form.get("subject_token_type") ?? (form.has("resource") ? ID_TOKEN_TYPE : null)) === ID_TOKEN_TYPE &&
    headers.authorization === undefined &&
    !["client_id", "client_secret", "client_assertion"].some((name) => form.get(name))
  );
}

export type CiRequest = {
  subjectToken: string;
  resource: string;
  target: { repo: { type: RepoType; owner: string; name: string } } | { username: string };
};

const TOKEN_MAX_CHARACTERS = 16 * 1024;
const RESOURCE_MAX_CHARACTERS = 300;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const SCOPE = "gated-repos";

/** RFC 8693 §2.1, docs/specification/organizations-and-tokens.md#trusted-publishers. */
function readCiRequest(form: URLSearchParams): CiRequest {
  const one = (name: string): string => {
    const values = form.getAll(name);
    if (values.length > 1) throw invalid(`${name} occurs ${values.length} times`);
    return values[0] ?? "";
  };
  if (one("subject_token_type") === "") throw invalid(`subject_token_type is missing: send ${ID_TOKEN_TYPE}`);
  const subjectToken = one("subject_token");
  if (subjectToken === "") throw invalid("subject_token is missing: send the ID token of the job");
  if (subjectToken.length > TOKEN_MAX_CHARACTERS || !JWT.test(subjectToken)) throw invalid("subject_token is not a signed JWT");
  const requested = one("requested_token_type");
  if (requested !== "" && requested !== ACCESS_TOKEN_TYPE) throw invalid(`requested_token_type can only be ${ACCESS_TOKEN_TYPE}`);
  if (one("actor_token") !== "" || one("actor_token_type") !== "") {
    throw invalid("actor_token is not supported for jobs");
  }
  const resource = one("resource");
  const target = readResource(resource);
  const scopes = one("scope").split(" ").filter(Boolean);
  if ("username" in target && scopes.some((scope) => scope !== SCOPE)) {
    throw new ProtocolError(400, "invalid_scope", `a token that reads on behalf of a user can only have the scope ${SCOPE}`);
  }
  return { subjectToken, resource, target };
}

function readResource(resource: string): CiRequest["target"] {
  const shape = "send owner/name, datasets/owner/name, spaces/owner/name or a username";
  if (resource === "") throw invalid(`resource is missing: ${shape}`);
  if (resource.length > RESOURCE_MAX_CHARACTERS) throw invalid("resource is too long");
  const parts = resource.split("/");
  const [first = "", second = "", third = ""] = parts;
  // See docs/specification/repositories-and-git.md#what-is-not-offered.
  if (parts.length > 1 && (first === "kernels" || first === "buckets")) throw invalid(`${first} do not exist here: ${shape}`);
  if (parts.some((part) => !/^[\w.-]+$/.test(part))) throw invalid(`resource is invalid: ${shape}`);
  const type = repoTypeOfSegment(first);
  if (parts.length === 3 && type) return { repo: { type, owner: second, name: third } };
  if (parts.length === 2 && !type) return { repo: { type: "model", owner: first, name: second } };
  if (parts.length === 1 && !type && !isRepoType(first)) return { username: first };
  throw invalid(`resource is invalid: ${shape}`);
}

const invalid = (description: string): ProtocolError => new ProtocolError(400, "invalid_request", description);
