import { randomUUID } from "node:crypto";
import { scopes as allScopes, isScope } from "@keyhook/sdk";
import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { displayText } from "#core/accounts/display-text.ts";
import { plainText } from "#core/accounts/plain-text.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { issueAppSecret } from "../apps/app-secret.ts";
import { notifyAppChange } from "../apps/notify-app-change.ts";
import { apiAudience, plainIdentifier, type RegisteredResource } from "./resource-servers.ts";

const NAME_MAX_CHARACTERS = 60;
const IDENTIFIER_MAX_CHARACTERS = 500;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/;

export type NewResourceServer = Pick<RegisteredResource, "identifier" | "name"> & {
  /** What its tokens may carry; a plain sign-in unless given. */
  scopes?: readonly string[];
};

/**
 * Registers a service beside this one, an MCP server say, so that apps can ask for tokens that are good there and nowhere else
 * (RFC 8707). It checks them by introspection, for which it gets credentials; they sign nobody in.
 * @returns the credentials; the secret is shown here and never again.
 * @throws ServiceError `invalid_request` with the field, `conflict` for one that is registered, `forbidden`
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
      throw new ServiceError("conflict", "This address is registered already.", { field: "identifier" });
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
    await recordAuditEvent(tx, {
      type: "resource_server.add",
      actorId: actorId(actor),
      clientId: app.clientId,
      data: resource,
      from,
    });
    await notifyAppChange(tx, app.clientId);
    return { resource, clientId: app.clientId, secret };
  });
}

/** RFC 8707 §2: an absolute URI without a fragment. Written in one way only, since audiences are compared as text. */
function parseIdentifier(value: unknown): string {
  const identifier = plainIdentifier(plainText("identifier", value, IDENTIFIER_MAX_CHARACTERS).trim());
  const url = URL.parse(identifier);
  const invalid = (sentence: string) => new ServiceError("invalid_request", sentence, { field: "identifier" });
  if (!url || (url.protocol !== "https:" && !LOOPBACK.test(identifier))) {
    throw invalid("Give the service's address, such as https://mcp.example.com/mcp; plain http is for this machine only.");
  }
  if (url.username || url.password || identifier.includes("#") || identifier.includes("?")) {
    throw invalid("Leave out user names, queries and fragments.");
  }
  if (plainIdentifier(url.href) !== identifier) throw invalid(`Write it as ${plainIdentifier(url.href)}`);
  if (identifier === apiAudience()) throw invalid("This is our own API, which needs no registration.");
  return identifier;
}

function parseScopes(names: readonly string[]): string[] {
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined || names.length === 0) {
    throw new ServiceError("invalid_request", `Choose scopes from: ${allScopes.join(", ")}.`, { field: "scopes" });
  }
  return allScopes.filter((scope) => names.includes(scope));
}
