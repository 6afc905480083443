import { randomUUID } from "node:crypto";
import { isRedirectUriAllowed } from "@keyhook/sdk";
import type { JWK } from "jose";
import type Provider from "oidc-provider";
import type { Client } from "oidc-provider";
import { db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { countSecretUse } from "./apps/count-usage.ts";
import { GRANT_REDIRECT_URI } from "./artifacts/grant-store.ts";
import { isFirstUseInRequest } from "./artifacts/is-first-use.ts";
import { newRefreshTokenId } from "./artifacts/refresh-token-id.ts";
import { tokenPrefix } from "./artifacts/token-prefix.ts";
import { clientExtension, findClientSecret } from "./clients/client-extension.ts";
import { queueLogoutNotices } from "./logout/queue-logout-notices.ts";
import { verifyRetiredHint } from "./signing-keys.ts";

/** Only this file changes the engine's classes. A test fails if the engine stops calling a changed method. */
type ClientPrototype = {
  redirectUris: string[];
  postLogoutRedirectUris?: string[];
  redirectUriAllowed(value: string): boolean;
  postLogoutRedirectUriAllowed(value: string): boolean;
  compareClientSecret(presented: string): boolean;
  clientId: string;
  backchannelLogout(accountId: string, sid: string | undefined): Promise<void>;
};

type GrantPrototype = {
  getOIDCScope(): string;
  getRejectedOIDCScope(): string;
  getResourceScope(resource: string): string;
  getRejectedResourceScope(resource: string): string;
};

type TokenPrototype = { generateTokenId(): string };

type ReplayDetectionClass = { unique(issuer: string, jti: string, until: number): Promise<boolean> };

type IdTokenClass = {
  new (available: { sub: string }, by: { client: Client; ctx: undefined }): IdToken;
  validate(jwt: string, client: { clientId: string }): Promise<unknown>;
};

type IdToken = {
  mask: Record<string, null>;
  set(claim: string, value: unknown): void;
  issue(how: { use: "logout" }): Promise<string>;
};

type Internals = {
  IdToken: IdTokenClass;
  Client: { prototype: ClientPrototype; Schema: { prototype: { redirectUris(uris?: string[], label?: string): void } } };
  Grant: { prototype: GrantPrototype; IN_PAYLOAD: string[] };
  AccessToken: { prototype: TokenPrototype };
  RefreshToken: { prototype: TokenPrototype & { grantId: string; jkt?: string; remainingTTL: number } };
  DeviceCode: { prototype: TokenPrototype };
  ReplayDetection: ReplayDetectionClass;
};

/** Fetches the keys of a `jwks_uri` at their first use. */
type ClientKeyStore = {
  /** False once keys from a `jwks_uri` are stale (clients/fetch-client-keys.ts). */
  fresh(): boolean;
  refresh(): Promise<void>;
  selectForVerify(wanted: { alg: string; kid?: string }): JWK[];
  getKeyObject(key: JWK, isPublic: true): JWK;
};

export function keyStoreOf(client: Client): ClientKeyStore {
  return (client as unknown as { asymmetricKeyStore: ClientKeyStore }).asymmetricKeyStore;
}

export function closeEngineGaps(provider: Provider): void {
  const { Client, Grant, IdToken, AccessToken, RefreshToken, DeviceCode, ReplayDetection } = provider as unknown as Internals;
  const { ORIGIN } = env();
  const context = { ownOrigin: ORIGIN };

  // S4, S5: otherwise the engine would decide by the application type.
  Client.prototype.redirectUriAllowed = function redirectUriAllowed(value) {
    return isRedirectUriAllowed(this.redirectUris, value, context);
  };
  Client.prototype.postLogoutRedirectUriAllowed = function postLogoutRedirectUriAllowed(value) {
    return isRedirectUriAllowed(this.postLogoutRedirectUris ?? [], value, context);
  };
  Client.Schema.prototype.redirectUris = () => undefined;

  // S41: the engine compares plain secrets. Here they are hashed, and there are two during a rotation.
  Client.prototype.compareClientSecret = function compareClientSecret(presented) {
    const secret = findClientSecret(clientExtension(this).secrets, presented);
    if (secret) countSecretUse(secret.id);
    return secret !== undefined;
  };

  // S109: the engine would send notices at once. The worker sends them, and retries.
  Client.prototype.backchannelLogout = async function backchannelLogout(userId, sid) {
    await queueLogoutNotices(db(), [{ clientId: this.clientId, userId, sid: sid ?? null }]);
  };

  // S108: an ID token that is sent as a hint may be older than all current keys.
  const validate = IdToken.validate;
  IdToken.validate = async function validateHint(jwt, client) {
    try {
      return await validate.call(IdToken, jwt, client);
    } catch (error) {
      const hint = await verifyRetiredHint(jwt, client.clientId);
      if (hint) return hint;
      throw error;
    }
  };

  const remembered = [...Grant.IN_PAYLOAD, GRANT_REDIRECT_URI];
  Object.defineProperty(Grant, "IN_PAYLOAD", { get: () => remembered });

  // S54: the API as an audience only limits the token, so it needs no consent of its own.
  Grant.prototype.getResourceScope = function getResourceScope() {
    return this.getOIDCScope();
  };
  Grant.prototype.getRejectedResourceScope = function getRejectedResourceScope() {
    return this.getRejectedOIDCScope();
  };

  // RFC 9449 §11.1, RFC 7523 §3: the engine reads before it writes, so it would accept two simultaneous uses.
  ReplayDetection.unique = isFirstUseInRequest;

  // S55: secret scanners recognize a token by its prefix.
  addPrefix(AccessToken.prototype, tokenPrefix("AccessToken"));
  addPrefix(DeviceCode.prototype, tokenPrefix("DeviceCode"));
  // S47: a used refresh token is recognized without its row.
  RefreshToken.prototype.generateTokenId = function generateTokenId() {
    const { grantId, jkt } = this;
    return newRefreshTokenId({ grantId, jkt, exp: Math.floor(Date.now() / 1000) + this.remainingTTL });
  };
}

function addPrefix(prototype: TokenPrototype, prefix: string): void {
  const generate = prototype.generateTokenId;
  prototype.generateTokenId = function generateTokenId() {
    return prefix + generate.call(this);
  };
}

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** The token is valid for two minutes (OpenID Connect Back-Channel Logout §2.4). */
export async function issueLogoutToken(
  provider: Provider,
  client: Client,
  { userId, sid }: { userId: string; sid: string | null },
): Promise<string> {
  const { IdToken } = provider as unknown as Internals;
  const token = new IdToken({ sub: userId }, { client, ctx: undefined });
  token.mask = { sub: null };
  token.set("events", { [LOGOUT_EVENT]: {} });
  token.set("jti", randomUUID());
  if (sid) token.set("sid", sid);
  return token.issue({ use: "logout" });
}
