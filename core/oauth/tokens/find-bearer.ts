import { isScope, type Scope } from "@keyhook/sdk";
import type { TokenOrganization } from "#core/accounts/tokens/account.ts";
import { type CiToken, findCiToken, looksLikeRepoToken } from "#core/accounts/tokens/find-ci-token.ts";
import { findPersonalAccessToken } from "#core/accounts/tokens/find-personal-access-token.ts";
import type { AuditToken } from "#core/audit/request-origin.ts";
import { findArtifact } from "../artifacts/artifact-store.ts";
import { type AccountRow, requestRows, withRequestRows } from "../artifacts/request-rows.ts";
import { tokenPrefix } from "../artifacts/token-prefix.ts";
import { clientExtension } from "../clients/client-extension.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import type { ActingParty } from "../exchange/exchange-token.ts";
import { apiAudience } from "../resources/resource-servers.ts";
import { consumeDpopProof, type ProvenRequest } from "./dpop-proof.ts";

const writing: readonly Scope[] = ["contribute-repos", "write-repos", "manage-repos", "write-collections", "write-discussions"];

/** The `role` of docs/specification/organizations-and-tokens.md#audit-log. */
const roleOf = (scopes: readonly Scope[]): "read" | "write" =>
  scopes.some((scope) => writing.includes(scope)) ? "write" : "read";

export type Bearer = {
  kind: "oauth" | "personal";
  account: AccountRow & { organizations: TokenOrganization[] };
  scopes: Scope[];
  auditToken: AuditToken;
  expiresAt: number | null;
  issuedAt: number;
  clientId?: string;
  isFirstParty?: true;
  /** When the user last authenticated before allowing the client, if known (S113). */
  authenticatedAt?: Date;
  boundOrgId?: string;
  act?: ActingParty;
  tokenName?: string;
  /** The token is a CI job's (docs/specification/organizations-and-tokens.md#trusted-publishers). */
  isReadOnly?: true;
};

/** RFC 6750, RFC 9449. A proof works once, so later lookups in a long request set `isProven`. */
export type Presentation =
  | { scheme: "bearer" }
  | { scheme: "dpop"; isProven: true }
  | ({ scheme: "dpop"; isProven?: undefined } & ProvenRequest);

/**
 * Callers must give one response for an invalid token and a missing proof.
 * @throws InvalidDpopProof if the proof does not match
 */
export async function findBearer(token: string, presentation: Presentation): Promise<Bearer | undefined> {
  if (presentation.scheme === "dpop") return findOAuthBearer(token, presentation);
  if (!token.startsWith(tokenPrefix("AccessToken"))) {
    return (await findPersonalBearer(token)) ?? findOAuthBearer(token, presentation);
  }
  return (await findOAuthBearer(token, presentation)) ?? findReadingJob(token);
}

/** A CI job that reads for a user has only the scope `gated-repos`, and no organizations. */
async function findReadingJob(token: string): Promise<Bearer | undefined> {
  const found = await findCiToken(token);
  if (!found?.user) return undefined;
  return {
    kind: "oauth",
    account: { ...found.user, organizations: [] },
    scopes: ["gated-repos"],
    auditToken: { type: "ci", id: found.id, name: found.description, role: "read", last4: token.slice(-4) },
    expiresAt: Math.floor(found.expiresAt.getTime() / 1000),
    issuedAt: Math.floor(found.createdAt.getTime() / 1000),
    isReadOnly: true,
  };
}

function findOAuthBearer(token: string, presentation: Presentation): Promise<Bearer | undefined> {
  return withRequestRows(async (): Promise<Bearer | undefined> => {
    const payload = await findArtifact("AccessToken", token);
    const expiresAt = Number(payload?.exp);
    if (!payload || !(expiresAt > Date.now() / 1000)) return undefined;
    // RFC 8707.
    if (payload.aud !== undefined && payload.aud !== apiAudience()) return undefined;
    const clientId = String(payload.clientId);
    const client = await findClientMetadata(clientId);
    if (!client) return undefined;
    const account = requestRows().accounts.get(String(payload.accountId));
    if (!account) return undefined;
    // RFC 9449 §7.2: the scheme must match the kind of token.
    const keyThumbprint = typeof payload.jkt === "string" ? payload.jkt : undefined;
    if ((presentation.scheme === "dpop") !== (keyThumbprint !== undefined)) return undefined;
    if (presentation.scheme === "dpop" && !presentation.isProven && keyThumbprint) {
      await consumeDpopProof(presentation, { value: token, clientId, accountId: account.id, keyThumbprint });
    }
    const scopes = String(payload.scope ?? "")
      .split(" ")
      .filter(isScope);
    const authTime = requestRows().grants.get(String(payload.grantId))?.authTime;
    const type = account.boundOrgId ? "exchanged" : "oauth";
    return {
      kind: "oauth",
      account: { ...account, organizations: account.organizations ?? [] },
      scopes,
      auditToken: { type, id: String(payload.grantId), clientId, role: roleOf(scopes), last4: token.slice(-4) },
      expiresAt,
      issuedAt: Number(payload.iat),
      clientId,
      ...(clientExtension(client).isFirstParty && { isFirstParty: true as const }),
      ...(typeof authTime === "number" && { authenticatedAt: new Date(authTime * 1000) }),
      ...(account.boundOrgId && { boundOrgId: account.boundOrgId }),
      ...(hasActingParty(payload.extra) && { act: payload.extra.act }),
    };
  });
}

function hasActingParty(extra: unknown): extra is { act: ActingParty } {
  return typeof extra === "object" && extra !== null && "act" in extra;
}

async function findPersonalBearer(token: string): Promise<Bearer | undefined> {
  const found = await findPersonalAccessToken(token);
  if (!found) return undefined;
  return {
    kind: "personal",
    account: found.account,
    scopes: found.scopes,
    auditToken: { type: "personal", id: found.id, name: found.name, role: roleOf(found.scopes), last4: token.slice(-4) },
    expiresAt: found.expiresAt && Math.floor(found.expiresAt.getTime() / 1000),
    issuedAt: Math.floor(found.createdAt.getTime() / 1000),
    tokenName: found.name,
  };
}

/** A job that acts for no user (docs/specification/organizations-and-tokens.md#trusted-publishers). */
export type CiJob = Extract<CiToken, { user: null }>;

export async function findCiJob(token: string): Promise<CiJob | undefined> {
  if (!looksLikeRepoToken(token)) return undefined;
  const found = await findCiToken(token);
  return found?.repo ? found : undefined;
}
