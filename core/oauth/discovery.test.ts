import { scopes } from "@keyhook/sdk";
import * as oauth from "oauth4webapi";
import { afterAll, describe, expect, test } from "vitest";
import { PKCE } from "./testing/authorization.ts";
import { asApp, authorize, redemption, type SignIn, signIn } from "./testing/sign-in.ts";
import { startWorld } from "./testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const documents = ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"];
const read = async (path = documents[0] as string) => (await fetch(world.origin + path)).json();

describe("S106 discovery", () => {
  test.each([["oidc"], ["oauth2"]] as const)(
    "an independent client accepts the %s document as the service's",
    async (algorithm) => {
      const issuer = new URL(world.origin);
      const response = await oauth.discoveryRequest(issuer, { algorithm, ...world.insecure });
      expect(await oauth.processDiscoveryResponse(issuer, response)).toMatchObject({ issuer: world.origin });
    },
  );

  test("both documents are equal, and their issuer is the service's URL", async () => {
    const [openid, oauth2] = await Promise.all(documents.map(read));
    expect(oauth2).toEqual(openid);
    expect(openid.issuer).toBe(world.origin);
  });

  test("lists only enabled features", async () => {
    const document = await read();
    expect(document).toMatchObject({
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      subject_types_supported: ["public"],
      authorization_response_iss_parameter_supported: true,
      request_uri_parameter_supported: false,
      claims_parameter_supported: false,
      client_id_metadata_document_supported: true,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      protected_resources: [world.origin],
    });
    const sorted = (name: string) => [...document[name]].sort();
    expect(sorted("grant_types_supported")).toEqual([
      "authorization_code",
      "refresh_token",
      "urn:ietf:params:oauth:grant-type:device_code",
      "urn:ietf:params:oauth:grant-type:token-exchange",
    ]);
    expect(sorted("scopes_supported")).toEqual([...scopes, "offline_access"].sort());
    expect(sorted("id_token_signing_alg_values_supported")).toEqual(["ES256", "RS256"]);
    const proofs = ["client_secret_basic", "client_secret_post", "private_key_jwt"];
    expect(sorted("token_endpoint_auth_methods_supported")).toEqual([
      "client_secret_basic",
      "client_secret_post",
      "none",
      "private_key_jwt",
    ]);
    expect(sorted("introspection_endpoint_auth_methods_supported")).toEqual(proofs);
    expect(sorted("revocation_endpoint_auth_methods_supported")).toEqual([
      "client_secret_basic",
      "client_secret_post",
      "none",
      "private_key_jwt",
    ]);
    for (const name of ["dpop_signing_alg_values_supported", "token_endpoint_auth_signing_alg_values_supported"]) {
      expect(document[name].length, name).toBeGreaterThan(0);
      for (const alg of document[name]) expect(alg, "only public keys").toMatch(/^(RS|PS|ES|Ed)/);
    }
    expect(sorted("response_modes_supported")).toEqual(["form_post", "fragment", "query"]);
    for (const name of [
      "registration_endpoint",
      "backchannel_authentication_endpoint",
      "require_pushed_authorization_requests",
      "request_parameter_supported",
      "frontchannel_logout_supported",
      "tls_client_certificate_bound_access_tokens",
    ]) {
      expect(document).not.toHaveProperty(name);
    }
  });

  test("every claim in userinfo is listed", async () => {
    const { claims_supported } = await read();
    const { tokens } = await signIn(
      world,
      { scopes: ["openid", "profile", "email", "read-billing"] },
      { scope: "openid profile email read-billing" },
    );
    const given = Object.keys(await (await world.userinfo(tokens.access_token)).json());
    expect(claims_supported).toEqual(expect.arrayContaining(given));
  });

  test("may be cached for minutes", async () => {
    for (const path of documents) {
      const { headers } = await fetch(world.origin + path);
      expect(headers.get("content-type")).toMatch(/^application\/json\b/);
      expect(headers.get("cache-control")).toBe("public, max-age=300");
    }
  });
});

describe("S106 every endpoint that discovery names works", () => {
  const confidential = { isConfidential: true, isRefreshAllowed: true, isDeviceFlowAllowed: true } as const;

  const calls: Record<string, (url: string, at: SignIn) => Promise<void>> = {
    async authorization_endpoint(url, at) {
      for (const response_mode of [undefined, "query"]) expect((await authorize(at, { response_mode })).code).toBeTruthy();
      expect(new URL(world.authorizeUrl(at.app, {})).href).toContain(`${url}?`);
    },
    async token_endpoint(url, at) {
      const code = await authorize(at);
      const response = await asApp(world, at.app, new URL(url).pathname, redemption(code));
      expect(await response.json()).toHaveProperty("access_token");
      const refreshed = await asApp(world, at.app, new URL(url).pathname, {
        grant_type: "refresh_token",
        refresh_token: at.tokens.refresh_token,
      });
      expect(await refreshed.json()).toHaveProperty("access_token");
    },
    async userinfo_endpoint(url, at) {
      const response = await fetch(url, { headers: { authorization: `Bearer ${at.tokens.access_token}` } });
      expect(await response.json()).toMatchObject({ sub: at.person.id });
    },
    async introspection_endpoint(url, at) {
      const response = await asApp(world, at.app, new URL(url).pathname, { token: at.tokens.access_token });
      expect(await response.json()).toMatchObject({ active: true });
    },
    async revocation_endpoint(url, at) {
      const { tokens } = await world.signInWith(at.app, at.session, at.browser);
      expect((await asApp(world, at.app, new URL(url).pathname, { token: tokens.access_token })).status).toBe(200);
      expect((await world.userinfo(tokens.access_token)).status).toBe(401);
    },
    async jwks_uri(url) {
      expect((await (await fetch(url)).json()).keys.length).toBeGreaterThanOrEqual(2);
    },
    async device_authorization_endpoint(url, at) {
      const response = await asApp(world, at.app, new URL(url).pathname, {});
      expect(await response.json()).toMatchObject({ device_code: expect.any(String), user_code: expect.any(String) });
    },
    async pushed_authorization_request_endpoint(url, at) {
      const request = Object.fromEntries(new URL(world.authorizeUrl(at.app, PKCE)).searchParams);
      const response = await asApp(world, at.app, new URL(url).pathname, request);
      expect(response.status).toBe(201);
      const { request_uri } = await response.json();
      const start = `/oauth/authorize?${new URLSearchParams({ client_id: at.app.clientId, request_uri })}`;
      const landed = (await world.follow(at.browser, start, at.session)) as URL;
      expect(landed.searchParams.get("code")).toBeTruthy();
    },
    async end_session_endpoint(url, at) {
      const response = await at.browser.fetch(`${url}?id_token_hint=${at.tokens.id_token}`);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("Sign out");
    },
  };

  test("in a request of its own", async () => {
    const document = await read();
    const named = Object.keys(document).filter((name) => /_endpoint$|_uri$/.test(name));
    expect(named.sort()).toEqual(Object.keys(calls).sort());
    const at = await signIn(world, confidential);
    for (const name of named) {
      expect(document[name].startsWith(`${world.origin}/`), name).toBe(true);
      await calls[name]?.(document[name], at);
    }
  });

  test("every response mode delivers the code", async () => {
    const at = await signIn(world, confidential);
    const { response_modes_supported } = await read();
    for (const mode of response_modes_supported) {
      const url = world.authorizeUrl(at.app, {
        response_mode: mode,
        code_challenge: "x".repeat(43),
        code_challenge_method: "S256",
      });
      const answer = await world.follow(at.browser, url, at.session);
      if (mode === "form_post") {
        const html = await (answer as Response).text();
        expect(html).toMatch(/name="code" value="[\w-]+"/);
        const [, script = ""] = /<script>([\s\S]*)<\/script>/.exec(html) ?? [];
        const digest = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(script))).toString("base64");
        expect((answer as Response).headers.get("content-security-policy")).toContain(`'sha256-${digest}'`);
      } else {
        const parameters = new URLSearchParams(mode === "fragment" ? (answer as URL).hash.slice(1) : (answer as URL).search);
        expect(parameters.get("code"), mode).toBeTruthy();
      }
    }
  });
});
