import type { IncomingHttpHeaders } from "node:http";
import { findArtifact } from "./artifact-store.ts";
import { findClientMetadata } from "./clients.ts";
import { ProtocolError } from "./protocol-request.ts";

/**
 * How real clients identify themselves, made into what the engine expects. Nothing here decides whether a client is genuine:
 * the engine checks that afterwards, as ever.
 */
export async function identifyClient(path: string, headers: IncomingHttpHeaders, form: URLSearchParams): Promise<void> {
  const basic = readBasic(headers.authorization);
  if (basic?.secret === "") {
    // openid-client 5 sends Basic with an empty secret for a public client (wire.md 0.3).
    const inBody = form.get("client_id");
    if (inBody === null || inBody === basic.clientId) {
      delete headers.authorization;
      form.set("client_id", basic.clientId);
    }
  } else if (!basic && !form.has("client_id") && !headers.authorization && !form.has("client_assertion")) {
    await identifyByCode(form);
  }
  if (path === "/oauth/introspect") requireAuthentication(headers, form);
}

/** RFC 6749 §2.3.1: both parts are form-urlencoded. Undefined for another scheme or what cannot be read. */
function readBasic(header: string | undefined): { clientId: string; secret: string } | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? "") ?? [];
  if (!encoded) return undefined;
  const [id, ...rest] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  if (!id || rest.length === 0) return undefined;
  try {
    return { clientId: decodeURIComponent(id.replaceAll("+", " ")), secret: rest.join(":") };
  } catch {
    return undefined;
  }
}

/**
 * The hub's JavaScript client sends no `client_id` with its code (wire.md 0.2). The code belongs to one client; where that
 * client is public, naming it proves nothing that the code and its PKCE verifier do not prove.
 */
async function identifyByCode(form: URLSearchParams): Promise<void> {
  const code = form.get("code");
  if (form.get("grant_type") !== "authorization_code" || !code || code.includes("\0")) return;
  const clientId = (await findArtifact("AuthorizationCode", code))?.clientId;
  if (typeof clientId !== "string") return;
  const client = await findClientMetadata(clientId);
  if (client?.token_endpoint_auth_method === "none") form.set("client_id", clientId);
}

/** RFC 7662 §2.1: introspection is for clients that prove who they are, which a public client cannot (S104). */
function requireAuthentication(headers: IncomingHttpHeaders, form: URLSearchParams): void {
  if (headers.authorization || form.has("client_secret") || form.has("client_assertion")) return;
  throw new ProtocolError(401, "invalid_client", "client authentication failed", { "WWW-Authenticate": "Basic" });
}
