import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The server names the source of its tokens (RFC 9728) and introspects tokens (RFC 7662). */
export async function startMcpServer(authorizationServer: string) {
  let credentials = "";
  const server = createServer(async (req, res) => {
    const json = (status: number, body: unknown, headers = {}) =>
      res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    if (req.url === "/.well-known/oauth-protected-resource/mcp") {
      return json(200, { resource, authorization_servers: [authorizationServer], scopes_supported: ["openid", "profile"] });
    }
    const [, token = ""] = /^Bearer (.+)$/i.exec(req.headers.authorization ?? "") ?? [];
    const introspection = await fetch(`${authorizationServer}/oauth/introspect`, {
      method: "POST",
      headers: { authorization: credentials },
      body: new URLSearchParams({ token }),
    });
    const about = await introspection.json();
    if (about.active && about.aud === resource) return json(200, { hello: about.sub, scope: about.scope });
    const pointer = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    return json(401, { error: "invalid_token" }, { "www-authenticate": `Bearer ${pointer}` });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resource = `${origin}/mcp`;
  return {
    resource,
    useCredentials(authorization: string) {
      credentials = authorization;
    },
    call: (token?: string) => fetch(resource, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
