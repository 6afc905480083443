import { pool } from "#core/db.ts";
import { type HttpsSite, startHttpsSite } from "#core/testing/https-site.ts";
import type { TestApp } from "./world.ts";

type Served = { status?: number; headers?: Record<string, string>; body?: string | Uint8Array };

export type DocumentSite = HttpsSite & {
  app: TestApp;
  clientId: string;
  redirectUri: string;
  publish(changes?: Record<string, unknown>, headers?: Record<string, string>): void;
  serve(served: Served): void;
  fetches(): number;
};

export const DOCUMENT_PATH = "/.well-known/oauth-cimd";

/** @param changes are made to the document of docs/specification/oauth.md#client-id-metadata-documents */
export async function startDocumentSite(changes: Record<string, unknown> = {}): Promise<DocumentSite> {
  const site = await startHttpsSite();
  const clientId = `${site.origin}${DOCUMENT_PATH}`;
  const redirectUri = `${site.origin}/oauth/callback/keyhook`;
  const serve = ({ status = 200, headers, body }: Served) =>
    site.answer((req, res) => {
      if (req.url !== DOCUMENT_PATH) return res.writeHead(404).end();
      res.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
    });
  const document = {
    client_id: clientId,
    client_name: "Kite Runner",
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: "none",
  };
  const publish = (changed: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    serve({ headers, body: JSON.stringify({ ...document, ...changes, ...changed }) });
  publish();
  return {
    ...site,
    app: { id: "", clientId, secret: undefined },
    clientId,
    redirectUri,
    publish,
    serve,
    fetches: () => site.asked.filter((path) => path === DOCUMENT_PATH).length,
  };
}

export async function makeStale(clientId: string, seconds = 1): Promise<void> {
  await pool().query("UPDATE oauth_client_document SET fresh_until = now() - make_interval(secs => $2) WHERE client_id = $1", [
    clientId,
    seconds,
  ]);
}
