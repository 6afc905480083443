import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { seal } from "../../crypto/seal.ts";
import { type Db, db } from "../../db.ts";
import { conflict, invalidRequest, type ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { discoverIssuer } from "./discover-issuer.ts";
import { ProviderUnreachable } from "./fetch-from-provider.ts";
import {
  type IdentityProvider,
  organizationSlug,
  type ProviderKind,
  requireIdentityProvider,
  SECRET_PURPOSE,
} from "./identity-provider.ts";
import * as parse from "./parse-identity-provider.ts";

const PROVIDERS_MAX = 20;

export type NewIdentityProvider = {
  orgId: string | null;
  kind: string;
  slug?: string;
  name?: string;
  issuer?: string;
  clientId: string;
  clientSecret?: string;
  scopes?: readonly string[];
  /** Never true for an organization's provider, because its administrators could vouch for any email address. */
  isSignUpAllowed?: boolean;
};

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
    throw invalidRequest("GitHub also requires the client secret.", "clientSecret");
  }
  const scopes = parse.parseProviderScopes(input.scopes, kind);
  const issuer = await checkProvider(kind, parse.parseIssuer(input.issuer, kind), orgId);
  const isSignUpAllowed = orgId === null && (input.isSignUpAllowed ?? false);
  return db().$transaction(async (tx) => {
    await requireProviderRight(actor, orgId, tx);
    if (orgId === null && (await tx.identityProvider.count({ where: { orgId: null } })) >= PROVIDERS_MAX) {
      throw conflict(`There are already ${PROVIDERS_MAX} providers. Delete one first.`);
    }
    const sealedClientSecret = clientSecret === undefined ? null : seal(SECRET_PURPOSE, clientSecret);
    const [provider] = await tx.identityProvider.createManyAndReturn({
      data: [{ id: newId(), slug, orgId, kind, name, issuer, clientId, sealedClientSecret, scopes, isSignUpAllowed }],
      skipDuplicates: true,
    });
    if (!provider) throw taken(orgId);
    await recordAuditEvent(tx, {
      type: "identity_provider.create",
      actor,
      orgId,
      data: { name, slug, kind, issuer, clientId, isSignUpAllowed },
      from,
    });
    return provider as IdentityProvider;
  });
}

function taken(orgId: string | null): ServiceError {
  return orgId === null
    ? conflict("Another provider already uses this name in URLs. Choose a different name.", "slug")
    : conflict("The organization already has an issuer. Delete it first.", "issuer");
}

/** Slug, kind and issuer never change, because a linked `sub` belongs to one issuer. */
type IdentityProviderChanges = {
  name?: string;
  clientId?: string;
  /** An empty text keeps the current secret, which is never shown. */
  clientSecret?: string;
  scopes?: readonly string[];
  isSignUpAllowed?: boolean;
};

export async function updateIdentityProvider(
  actor: Actor,
  slug: string,
  changes: IdentityProviderChanges,
  from: RequestOrigin,
): Promise<void> {
  const provider = await requireProviderManager(actor, slug);
  const { id, kind, orgId } = provider;
  const clientSecret = parse.parseClientSecret(changes.clientSecret);
  const data = {
    name: changes.name === undefined ? provider.name : parse.parseProviderName(changes.name, kind),
    clientId: changes.clientId === undefined ? provider.clientId : parse.parseClientId(changes.clientId),
    scopes: changes.scopes === undefined ? provider.scopes : parse.parseProviderScopes(changes.scopes, kind),
    isSignUpAllowed: orgId === null && (changes.isSignUpAllowed ?? provider.isSignUpAllowed),
  };
  await checkProvider(kind, provider.issuer, orgId);
  await db().$transaction(async (tx) => {
    await requireProviderManager(actor, slug, tx);
    await tx.identityProvider.update({
      where: { id },
      data: { ...data, ...(clientSecret === undefined ? {} : { sealedClientSecret: seal(SECRET_PURPOSE, clientSecret) }) },
    });
    await recordAuditEvent(tx, {
      type: "identity_provider.update",
      actor,
      orgId,
      data: { ...data, slug, ...(clientSecret === undefined ? {} : { clientSecret: "changed" }) },
      from,
    });
  });
}

export async function disableIdentityProvider(actor: Actor, slug: string, from: RequestOrigin): Promise<void> {
  await setDisabled(actor, slug, new Date(), from);
}

export async function enableIdentityProvider(actor: Actor, slug: string, from: RequestOrigin): Promise<void> {
  await setDisabled(actor, slug, null, from);
}

async function setDisabled(actor: Actor, slug: string, disabledAt: Date | null, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    const { id, name, orgId } = await requireProviderManager(actor, slug, tx);
    const { count } = await tx.identityProvider.updateMany({
      where: { id, disabledAt: disabledAt ? null : { not: null } },
      data: { disabledAt },
    });
    if (count === 0) return;
    await recordAuditEvent(tx, {
      type: disabledAt ? "identity_provider.disable" : "identity_provider.enable",
      actor,
      orgId,
      data: { name, slug },
      from,
    });
  });
}

export async function removeIdentityProvider(actor: Actor, slug: string, from: RequestOrigin): Promise<{ unlinked: number }> {
  return db().$transaction(async (tx) => {
    const { id, name, orgId } = await requireProviderManager(actor, slug, tx);
    // Until the transaction ends, nobody can link an identity, and the organization cannot start to require the provider.
    await tx.$queryRaw`SELECT 1 FROM identity_provider WHERE id = ${id} FOR UPDATE`;
    if (orgId !== null && (await tx.organization.count({ where: { id: orgId, requiredProviderId: id } })) > 0) {
      throw conflict("The organization requires this issuer. Disable the requirement first.");
    }
    const unlinked = await tx.linkedIdentity.count({ where: { providerId: id } });
    const { count } = await tx.identityProvider.deleteMany({ where: { id } });
    if (count === 0) return { unlinked: 0 };
    await recordAuditEvent(tx, { type: "identity_provider.delete", actor, orgId, data: { name, slug, unlinked }, from });
    return { unlinked };
  });
}

/** @returns the issuer in the spelling of its tokens */
async function checkProvider(kind: ProviderKind, issuer: string, orgId: string | null): Promise<string> {
  if (kind === "github") return issuer;
  try {
    const { metadata } = await discoverIssuer({ issuer, orgId }, { isFresh: true });
    return metadata.issuer;
  } catch (error) {
    if (!(error instanceof ProviderUnreachable)) throw error;
    throw invalidRequest(`This issuer could not be reached: ${error.message}. Check its URL.`, "issuer");
  }
}

/** The issuer may respond late, so callers check the right again in the transaction that writes the row (S135). */
async function requireProviderRight(actor: Actor, orgId: string | null, tx: Db = db()): Promise<void> {
  if (orgId === null) await requirePermission(actor, "installation.configure", null, { what: "Identity provider", tx });
  else await requirePermission(actor, "organization.manage_security", { orgId }, { what: "Organization", tx });
}

async function requireProviderManager(actor: Actor, slug: string, tx: Db = db()): Promise<IdentityProvider> {
  const provider = await requireIdentityProvider(slug, tx);
  await requireProviderRight(actor, provider.orgId, tx);
  return provider;
}

export type ListedIdentityProvider = Omit<IdentityProvider, "sealedClientSecret"> & {
  hasSecret: boolean;
  linked: number;
};

export async function listIdentityProviders(actor: Actor): Promise<ListedIdentityProvider[]> {
  await requirePermission(actor, "installation.operate", null, { what: "Service" });
  const rows = await db().identityProvider.findMany({
    where: { orgId: null },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: PROVIDERS_MAX,
    include: { _count: { select: { identities: true } } },
  });
  return rows.map(({ _count, sealedClientSecret, kind, ...row }) => ({
    ...row,
    kind: kind as ProviderKind,
    hasSecret: sealedClientSecret !== null,
    linked: _count.identities,
  }));
}

export type OfferedProvider = { slug: string; name: string; kind: ProviderKind };

export async function listOfferedProviders(): Promise<OfferedProvider[]> {
  const rows = await db().identityProvider.findMany({
    where: { orgId: null, disabledAt: null },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: PROVIDERS_MAX,
    select: { slug: true, name: true, kind: true },
  });
  return rows as OfferedProvider[];
}
