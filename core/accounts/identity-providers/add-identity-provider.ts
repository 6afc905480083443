import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { seal } from "../../crypto/seal.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { checkProvider } from "./check-provider.ts";
import { type IdentityProvider, organizationSlug, SECRET_PURPOSE } from "./identity-provider.ts";
import * as parse from "./parse-identity-provider.ts";
import { requireProviderRight } from "./require-provider-manager.ts";

/** More buttons than this help nobody to sign in. */
export const PROVIDERS_MAX = 20;

export type NewIdentityProvider = {
  /** The organization that owns it, which may only use an `oidc` issuer; null for the operator's. */
  orgId: string | null;
  kind: string;
  /** Part of the redirect URI; an organization's is derived from its id. */
  slug?: string;
  /** The button's text; the name of the kind unless given. */
  name?: string;
  issuer?: string;
  clientId: string;
  clientSecret?: string;
  scopes?: readonly string[];
  /** Never for an organization's: its administrators could vouch for any e-mail address. */
  isSignUpAllowed?: boolean;
};

/**
 * Adds an identity provider: the operator's for signing in, or an organization's own issuer. Its discovery document is read
 * first.
 * @throws ServiceError `forbidden`, `reauthentication_required`, `invalid_request` or `conflict` with the field
 */
export async function addIdentityProvider(
  actor: Actor,
  input: NewIdentityProvider,
  from: RequestOrigin,
): Promise<IdentityProvider> {
  const { orgId } = input;
  await requireProviderRight(actor, orgId);
  const kind = orgId === null ? parse.parseKind(input.kind) : "oidc";
  const slug = orgId === null ? parse.parseSlug(input.slug) : organizationSlug(orgId);
  const name = parse.parseProviderName(input.name, kind);
  const clientId = parse.parseClientId(input.clientId);
  const clientSecret = parse.parseClientSecret(input.clientSecret);
  if (kind === "github" && clientSecret === undefined) {
    throw new ServiceError("invalid_request", "GitHub wants the client secret too.", { field: "clientSecret" });
  }
  const scopes = parse.parseProviderScopes(input.scopes, kind);
  const issuer = await checkProvider(kind, parse.parseIssuer(input.issuer, kind), orgId);
  const isSignUpAllowed = orgId === null && (input.isSignUpAllowed ?? false);
  return db().$transaction(async (tx) => {
    await requireProviderRight(actor, orgId, tx);
    if (orgId === null && (await tx.identityProvider.count({ where: { orgId: null } })) >= PROVIDERS_MAX) {
      throw new ServiceError("conflict", `There are ${PROVIDERS_MAX} providers already. Remove one first.`);
    }
    const sealedClientSecret = clientSecret === undefined ? null : seal(SECRET_PURPOSE, clientSecret);
    const [provider] = await tx.identityProvider.createManyAndReturn({
      data: [{ id: newId(), slug, orgId, kind, name, issuer, clientId, sealedClientSecret, scopes, isSignUpAllowed }],
      skipDuplicates: true,
    });
    if (!provider) throw taken(orgId);
    await recordAuditEvent(tx, {
      type: "identity_provider.create",
      actorId: actorId(actor),
      orgId,
      data: { name, slug, kind, issuer, clientId, isSignUpAllowed },
      from,
    });
    return provider as IdentityProvider;
  });
}

function taken(orgId: string | null): ServiceError {
  return orgId === null
    ? new ServiceError("conflict", "Another provider has this name in its address. Choose another.", { field: "slug" })
    : new ServiceError("conflict", "The organization has an issuer already. Remove it first.", { field: "issuer" });
}
