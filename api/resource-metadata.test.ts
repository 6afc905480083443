import { scopes } from "@keyhook/sdk";
import { Hono } from "hono";
import * as oauth from "oauth4webapi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ServiceError } from "#core/errors.ts";
import { authorize, prepare, redemption } from "#core/oauth/testing/sign-in.ts";
import { answerError } from "./answer-error.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

const METADATA = "/.well-known/oauth-protected-resource";
const read = async () => (await fetch(world.origin + METADATA)).json();

describe("RFC 9728 metadata of our API", () => {
  test("is accepted by an independent client", async () => {
    const resource = new URL(world.origin);
    const response = await oauth.resourceDiscoveryRequest(resource, world.insecure);
    expect(await oauth.processResourceDiscoveryResponse(resource, response)).toMatchObject({
      resource: world.origin,
      authorization_servers: [world.origin],
    });
  });

  test("states our tokens' audience, the scopes, and how a token is sent", async () => {
    const document = await read();
    expect(document).toMatchObject({ scopes_supported: [...scopes], bearer_methods_supported: ["header"] });
    expect(document.resource_name).toBe("Keyhook API");

    const discovery = await (await fetch(`${world.origin}/.well-known/oauth-authorization-server`)).json();
    expect(discovery.issuer).toBe(document.authorization_servers[0]);
    expect(discovery.protected_resources).toEqual([document.resource]);

    const at = await prepare(world);
    const code = await authorize(at, { resource: document.resource });
    const answer = await world.post("/oauth/token", { client_id: at.app.clientId, ...redemption(code) });
    const { access_token } = await answer.json();
    const whoami = await fetch(`${world.origin}/api/whoami-v2`, { headers: { authorization: `Bearer ${access_token}` } });
    expect(whoami.status).toBe(200);
  });

  test("is JSON that may be cached for five minutes, and accepts only GET and HEAD", async () => {
    const answer = await fetch(world.origin + METADATA);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=300");
    const head = await fetch(world.origin + METADATA, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const post = await fetch(world.origin + METADATA, { method: "POST" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  test("has one URL and no URLs below it", async () => {
    for (const path of ["/", "/api", "/api/whoami-v2", "/mcp"]) {
      expect((await fetch(world.origin + METADATA + path)).status).toBe(404);
    }
  });
});

describe("the challenge of our API (RFC 6750 §3, RFC 9728 §5.1)", () => {
  const challengeOf = async (authorization?: string) => {
    const response = await fetch(`${world.origin}/api/whoami-v2`, { headers: authorization ? { authorization } : {} });
    expect(response.status).toBe(401);
    return response.headers.get("www-authenticate") ?? "";
  };
  const pointer = () => `resource_metadata="${world.origin}${METADATA}"`;
  const bound = 'DPoP algs="ES256 Ed25519 EdDSA"';

  test("names the metadata and a scope, and contains an error only if a token was sent", async () => {
    expect(await challengeOf()).toBe(`Bearer scope="openid profile", ${pointer()}, ${bound}`);
  });

  test("names the error invalid_token if the token is invalid", async () => {
    expect(await challengeOf("Bearer nothing")).toBe(
      `Bearer error="invalid_token", scope="openid profile", ${pointer()}, ${bound}`,
    );
  });

  test("names the scope, with 403, if the token lacks it (docs/specification/errors-and-limits.md#missing-scope)", async () => {
    const app = new Hono()
      .get("/", () => {
        throw new ServiceError("insufficient_scope", "This needs the scope jobs.", { scope: "jobs" });
      })
      .onError(answerError);
    const response = await app.request("/");
    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toBe(`Bearer error="insufficient_scope", scope="jobs", ${pointer()}`);
    expect(await response.json()).toMatchObject({ code: "insufficient_scope" });
  });
});
