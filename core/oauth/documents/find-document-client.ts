import type { AllClientMetadata } from "oidc-provider";
import { pool } from "#core/db.ts";
import { env } from "#core/env.ts";
import { CLIENT_EXTENSION, type ClientExtension } from "../clients/client-extension.ts";
import { OFFLINE_ACCESS, requiredScopes, supportedScopes } from "../scopes.ts";
import { explainDocumentAddress, hostnameOf } from "./document-address.ts";
import { DOCUMENT_POLICY_KEY, decideHost, documentPolicyOf, type HostDecision, type HostRule } from "./hosts/document-policy.ts";
import { namesCovering } from "./hosts/host-name.ts";
import { type DocumentMetadata, wantsRefreshTokens } from "./read-document.ts";

export async function findDocumentClient(clientId: string): Promise<AllClientMetadata | undefined> {
  if (explainDocumentAddress(clientId) !== undefined) return undefined;
  const { document, hostDecision } = await findStoredDocument(clientId);
  return document && hostDecision.isAllowed ? clientOfDocument(document) : undefined;
}

/** The client is public (docs/specification/oauth.md) unless it has keys (S73). */
function clientOfDocument({
  clientId,
  metadata,
  logoId,
}: Pick<StoredDocument, "clientId" | "metadata" | "logoId">): AllClientMetadata {
  const scopes = metadata.scope?.split(" ") ?? supportedScopes;
  const grants = metadata.grant_types ?? ["authorization_code"];
  const extension: ClientExtension = {
    isPkceRequired: true,
    isRefreshAlways: wantsRefreshTokens(metadata),
    accessTokenSeconds: null,
    isOwnerless: true,
    secrets: [],
    // A request without `scope` never asks for `offline_access`.
    defaultScope: scopes.filter(scopes.some(isRequired) ? isRequired : (scope) => scope !== OFFLINE_ACCESS).join(" "),
  };
  return {
    client_id: clientId,
    client_name: metadata.client_name,
    // A new image has a new URL, so users are asked again (S36).
    ...(logoId && { logo_uri: `${env().ORIGIN}/images/${logoId}` }),
    application_type: "native",
    redirect_uris: metadata.redirect_uris,
    post_logout_redirect_uris: metadata.post_logout_redirect_uris ?? [],
    response_types: grants.includes("authorization_code") ? ["code"] : [],
    // Always listed: `offline_access` decides whether the app gets a refresh token.
    grant_types: [...new Set([...grants, "refresh_token"])],
    scope: [...new Set([...scopes, OFFLINE_ACCESS])].join(" "),
    id_token_signed_response_alg: metadata.id_token_signed_response_alg ?? "RS256",
    require_pushed_authorization_requests: metadata.require_pushed_authorization_requests ?? false,
    dpop_bound_access_tokens: metadata.dpop_bound_access_tokens ?? false,
    ...(metadata.backchannel_logout_uri && {
      backchannel_logout_uri: metadata.backchannel_logout_uri,
      backchannel_logout_session_required: true,
    }),
    ...authentication(metadata),
    [CLIENT_EXTENSION]: extension,
  };
}

const isRequired = (scope: string): boolean => requiredScopes.some((each) => each === scope);

function authentication({
  token_endpoint_auth_method: method,
  jwks,
  jwks_uri,
}: StoredDocument["metadata"]): Partial<AllClientMetadata> {
  if (method !== "private_key_jwt") return { token_endpoint_auth_method: "none" };
  return { token_endpoint_auth_method: method, ...(jwks ? { jwks } : { jwks_uri }) };
}

export type StoredDocument = {
  clientId: string;
  metadata: DocumentMetadata;
  logoId: string | null;
  logoFetchedAt: Date | null;
  etag: string | null;
  isFresh: boolean;
  staleSeconds: number;
  isUsed: boolean;
  isSeenLongAgo: boolean;
};

const SEEN_INTERVAL = "interval '1 hour'";

const FIND = `SELECT (SELECT value FROM setting WHERE key = $3) AS policy,
    (SELECT coalesce(json_agg(json_build_object('host', host, 'rule', rule)), '[]') FROM oauth_client_host WHERE host = ANY ($2))
      AS rules,
    d.client_id AS "clientId", d.metadata, d.logo_id AS "logoId", d.logo_fetched_at AS "logoFetchedAt", d.etag,
    d.fresh_until > now() AS "isFresh", extract(epoch FROM now() - d.fresh_until)::float8 AS "staleSeconds",
    EXISTS (SELECT FROM oauth_consent c WHERE c.client_id = d.client_id AND c.revoked_at IS NULL) AS "isUsed",
    d.last_seen_at < now() - ${SEEN_INTERVAL} AS "isSeenLongAgo"
  FROM (SELECT $1::text AS asked) a LEFT JOIN oauth_client_document d ON d.client_id = a.asked`;

type Row = StoredDocument & { policy: unknown; rules: HostRule[] };

export async function findStoredDocument(
  clientId: string,
): Promise<{ document: StoredDocument | undefined; hostDecision: HostDecision }> {
  const hostname = hostnameOf(clientId);
  const values = [clientId, namesCovering(hostname), DOCUMENT_POLICY_KEY];
  const { rows } = await pool().query<Row>({ name: "client-document-find", text: FIND, values });
  const { policy, rules, ...document } = rows[0] as Row;
  const hostDecision = decideHost(hostname, rules, documentPolicyOf(policy));
  return { document: document.clientId === null ? undefined : document, hostDecision };
}
