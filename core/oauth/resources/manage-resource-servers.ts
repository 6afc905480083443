import { randomUUID } from "node:crypto";
import { scopes as allScopes, isScope } from "@keyhook/sdk";
import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { displayText, plainText } from "#core/accounts/plain-text.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { conflict, invalidRequest, notFound } from "#core/errors.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { newId } from "#core/ids.ts";
import { issueAppSecret } from "../apps/app-secrets.ts";
import { notifyAppChange } from "../apps/change-app.ts";
import { apiAudience, plainIdentifier, type RegisteredResource } from "./resource-servers.ts";

const NAME_MAX_CHARACTERS = 60;
const IDENTIFIER_MAX_CHARACTERS = 500;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/;

type NewResourceServer = Pick<RegisteredResource, "identifier" | "name"> & {
  scopes?: readonly string[];
};

/**
 * RFC 8707. Nobody can sign in with the credentials (S113).
 * @returns the credentials, with a secret that is never shown again
 */
export async function addResourceServer(
  actor: Actor,
  input: NewResourceServer,
  from: RequestOrigin,
): Promise<{ resource: RegisteredResource; clientId: string; secret: string }> {
  const resource = {
    identifier: parseIdentifier(input.identifier),
    name: displayText("name", input.name, { maxCharacters: NAME_MAX_CHARACTERS }),
    scopes: parseScopes(input.scopes ?? ["openid", "profile"]),
  };
  return db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`resource server ${resource.identifier}`}, 0))`;
    if (await tx.oAuthResourceServer.findUnique({ where: { identifier: resource.identifier } })) {
      throw conflict("This URL is already registered.", "identifier");
    }
    const app = await tx.oAuthApp.create({
      data: {
        id: newId(),
        clientId: randomUUID(),
        name: resource.name,
        redirectUris: [],
        postLogoutRedirectUris: [],
        scopes: resource.scopes,
        isConfidential: true,
      },
    });
    const secret = await issueAppSecret(tx, app.id);
    await tx.oAuthResourceServer.create({ data: { id: newId(), appId: app.id, ...resource } });
    await recordAuditEvent(tx, { type: "resource_server.add", actor, clientId: app.clientId, data: resource, from });
    await notifyAppChange(tx, app.clientId);
    return { resource, clientId: app.clientId, secret };
  });
}

/** RFC 8707 §2. Audiences are compared as text, so each has one accepted spelling. */
function parseIdentifier(value: unknown): string {
  const identifier = plainIdentifier(plainText("identifier", value, IDENTIFIER_MAX_CHARACTERS).trim());
  const url = URL.parse(identifier);
  const invalid = (sentence: string) => invalidRequest(sentence, "identifier");
  if (!url || (url.protocol !== "https:" && !LOOPBACK.test(identifier))) {
    throw invalid("Enter the service's URL, such as https://mcp.example.com/mcp; plain http is only for this machine.");
  }
  if (url.username || url.password || identifier.includes("#") || identifier.includes("?")) {
    throw invalid("Remove usernames, queries and fragments.");
  }
  if (plainIdentifier(url.href) !== identifier) throw invalid(`Enter it as ${plainIdentifier(url.href)}`);
  if (identifier === apiAudience()) throw invalid("This is this service's own API, which needs no registration.");
  return identifier;
}

function parseScopes(names: readonly string[]): string[] {
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined || names.length === 0) throw invalidRequest(`Choose scopes from: ${allScopes.join(", ")}.`, "scopes");
  return allScopes.filter((scope) => names.includes(scope));
}

/** Tokens stay invalid even if the service is registered again (S113). */
export async function removeResourceServer(actor: Actor, address: string, from: RequestOrigin): Promise<void> {
  const identifier = plainIdentifier(address);
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const found = await tx.oAuthResourceServer.findUnique({ where: { identifier }, include: { app: true } });
    if (!found) throw notFound("Resource server");
    await tx.oAuthApp.delete({ where: { id: found.appId } });
    await tx.$executeRaw`
      UPDATE oauth_consent SET resources = array_remove(resources, ${identifier}) WHERE ${identifier} = ANY (resources)`;
    // Codes and refresh tokens contain `resource` as it was sent.
    await tx.$executeRaw`
      DELETE FROM oauth_artifact WHERE payload ->> 'aud' = ${identifier}
        OR payload -> 'resource' ?| ARRAY[${identifier}, ${`${identifier}/`}]`;
    await recordAuditEvent(tx, {
      type: "resource_server.remove",
      actor,
      clientId: found.app.clientId,
      data: { identifier, name: found.name },
      from,
    });
    await notifyAppChange(tx, found.app.clientId);
  });
}

export async function listResourceServers(actor: Actor): Promise<(RegisteredResource & { clientId: string })[]> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const rows = await db().oAuthResourceServer.findMany({
    include: { app: { select: { clientId: true } } },
    orderBy: [{ name: "asc" }, { identifier: "asc" }],
  });
  return rows.map(({ identifier, name, scopes, app }) => ({ identifier, name, scopes, clientId: app.clientId }));
}

export async function findResourceApp(identifier: string): Promise<OAuthApp | undefined> {
  const found = await db().oAuthResourceServer.findUnique({
    where: { identifier: plainIdentifier(identifier) },
    include: { app: true },
  });
  return found?.app;
}
