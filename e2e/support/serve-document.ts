import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Demo } from "./demo.ts";

export type DocumentFields = Record<string, unknown>;

export type ServedDocument = {
  clientId: string;
  /** The host of the client ID, with its port. */
  host: string;
  authorizeUrl: (redirectUri: string, more?: Record<string, string>) => string;
  change: (fields: DocumentFields) => void;
  close: () => Promise<void>;
};

/** The shortest time for which the service keeps a document, regardless of its caching headers. */
export const DOCUMENT_KEPT_MS = 30_000;

export async function serveDocument({ certificates, origin }: Demo, fields: DocumentFields): Promise<ServedDocument> {
  const [cert, key] = ["certificate.pem", "key.pem"].map((name) => readFileSync(join(certificates.sample, name)));
  let document: DocumentFields = {};
  const server = createServer({ cert, key }, (_, response) => {
    response.setHeader("Content-Type", "application/json").setHeader("Cache-Control", "no-cache").end(JSON.stringify(document));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // `npm run shots` never stops this server, so it must not keep the process alive.
  server.unref();
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clientId = `https://${host}/.well-known/oauth-cimd`;
  const change = (more: DocumentFields) => {
    document = { ...document, ...more };
  };
  change({
    client_id: clientId,
    client_name: "Moss Notebook",
    redirect_uris: [`https://${host}/oauth/callback/keyhook`],
    token_endpoint_auth_method: "none",
    ...fields,
  });
  return {
    clientId,
    host,
    change,
    authorizeUrl: (redirectUri, more) => `${origin}/oauth/authorize?${authorization(clientId, redirectUri, more)}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function authorization(clientId: string, redirectUri: string, more: Record<string, string> = {}): URLSearchParams {
  return new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid profile",
    state: "a-state",
    // Any value, because no code is redeemed.
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    ...more,
  });
}
