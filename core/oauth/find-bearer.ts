import { isScope, type Scope } from "@keyhook/sdk";
import { findPersonalAccessToken } from "#core/accounts/tokens/find-personal-access-token.ts";
import { findArtifact } from "./artifact-store.ts";
import { findClientMetadata } from "./clients.ts";
import { type Member, readMember } from "./read-member.ts";
import { requestRows, withRequestRows } from "./request-rows.ts";
import { apiAudience } from "./resource-servers.ts";

/** Who holds an access token, and what it is good for. */
export type Bearer = {
  kind: "oauth" | "personal";
  account: Member;
  scopes: Scope[];
  /** Unix seconds; null for a personal token without an end. */
  expiresAt: number | null;
  issuedAt: number;
  /** Set for `oauth`. */
  clientId?: string;
  /** Set for `personal`: the name its owner gave it. */
  tokenName?: string;
};

/**
 * Resolves an access token of any kind. Undefined when it is unknown, expired or revoked, or its person, consent or app is
 * gone: callers answer all of these the same.
 */
export async function findBearer(token: string): Promise<Bearer | undefined> {
  return (await findOAuthBearer(token)) ?? (await findPersonalBearer(token));
}

function findOAuthBearer(token: string): Promise<Bearer | undefined> {
  return withRequestRows(async (): Promise<Bearer | undefined> => {
    const payload = await findArtifact("AccessToken", token);
    const expiresAt = Number(payload?.exp);
    if (!payload || !(expiresAt > Date.now() / 1000)) return undefined;
    // RFC 8707: a token for another audience is none here.
    if (payload.aud !== undefined && payload.aud !== apiAudience()) return undefined;
    if (!(await findClientMetadata(String(payload.clientId)))) return undefined;
    const account = requestRows().accounts.get(String(payload.accountId));
    if (!account) return undefined;
    return {
      kind: "oauth",
      account: { ...account, organizations: account.organizations ?? [] },
      scopes: String(payload.scope ?? "")
        .split(" ")
        .filter(isScope),
      expiresAt,
      issuedAt: Number(payload.iat),
      clientId: String(payload.clientId),
    };
  });
}

async function findPersonalBearer(token: string): Promise<Bearer | undefined> {
  const found = await findPersonalAccessToken(token);
  const account = found && (await readMember(found.userId));
  if (!account) return undefined;
  return {
    kind: "personal",
    account,
    scopes: found.scopes,
    expiresAt: found.expiresAt && Math.floor(found.expiresAt.getTime() / 1000),
    issuedAt: Math.floor(found.createdAt.getTime() / 1000),
    tokenName: found.name,
  };
}
