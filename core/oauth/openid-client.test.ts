import * as client from "openid-client";
import { afterAll, describe, expect, test } from "vitest";
import { prepare } from "./testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "./testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const RETURN = "https://app.example.test/signed-out";

async function site(authentication: "basic" | "post" | "none") {
  const at = await prepare(world, {
    isConfidential: authentication !== "none",
    scopes: ["openid", "profile", "email"],
    postLogoutRedirectUris: [RETURN],
  });
  const secret = at.app.secret ?? "";
  const methods = {
    basic: () => client.ClientSecretBasic(secret),
    post: () => client.ClientSecretPost(secret),
    none: () => client.None(),
  };
  const config = await client.discovery(new URL(world.origin), at.app.clientId, undefined, methods[authentication](), {
    execute: [client.allowInsecureRequests],
  });
  return { ...at, config };
}

describe.each(["basic", "post", "none"] as const)("openid-client 6, client authentication %s", (authentication) => {
  test("signs a user in, refreshes, reads userinfo and signs out", async () => {
    const { config, app, person, browser, session } = await site(authentication);
    expect(config.serverMetadata()).toMatchObject({ issuer: world.origin });
    expect(config.serverMetadata().supportsPKCE()).toBe(true);

    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: "openid profile email offline_access",
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      state: expectedState,
      nonce: expectedNonce,
      max_age: "3600",
    });
    const callback = await world.follow(browser, url.href, session);
    const tokens = await client.authorizationCodeGrant(config, callback as URL, {
      pkceCodeVerifier,
      expectedState,
      expectedNonce,
      maxAge: 3600,
      idTokenExpected: true,
    });
    expect(tokens.expiresIn()).toBeGreaterThan(28_000);
    expect(tokens.claims()).toMatchObject({ sub: person.id, email: person.email, aud: app.clientId });

    const claims = await client.fetchUserInfo(config, tokens.access_token, person.id);
    expect(claims).toMatchObject({ preferred_username: person.username, email_verified: true, orgs: [] });

    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
    expect(refreshed.claims()).toMatchObject({ sub: person.id });
    if (authentication === "none") {
      expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
      await expect(client.refreshTokenGrant(config, tokens.refresh_token ?? "")).rejects.toMatchObject({
        error: "invalid_grant",
      });
    } else {
      expect(refreshed.refresh_token).toBe(tokens.refresh_token);
    }

    if (authentication === "none") {
      await expect(client.tokenIntrospection(config, refreshed.access_token)).rejects.toMatchObject({ status: 401 });
    } else {
      expect(await client.tokenIntrospection(config, refreshed.access_token)).toMatchObject({ active: true, sub: person.id });
    }

    const logout = client.buildEndSessionUrl(config, {
      id_token_hint: refreshed.id_token ?? "",
      post_logout_redirect_uri: RETURN,
      state: expectedState,
    });
    const page = await browser.fetch(logout.href);
    const xsrf = /name="xsrf" value="(\w+)"/.exec(await page.text())?.[1] ?? "";
    const done = await browser.fetch("/oauth/logout/confirm", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ xsrf, logout: "yes" }).toString(),
    });
    expect(done.headers.get("location")).toBe(`${RETURN}?state=${expectedState}`);

    await client.tokenRevocation(config, refreshed.refresh_token ?? "");
    await expect(client.fetchUserInfo(config, refreshed.access_token, person.id)).rejects.toMatchObject({ status: 401 });
    await expect(client.refreshTokenGrant(config, refreshed.refresh_token ?? "")).rejects.toMatchObject({
      error: "invalid_grant",
    });
  });
});

test("openid-client 6 reports a denial after checking state and issuer", async () => {
  const { config, browser, session } = await site("basic");
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: "openid",
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    state: "a state",
  });
  const callback = (await world.follow(browser, url.href, session, { decision: "deny" })) as URL;
  expect(callback.searchParams.get("iss")).toBe(world.origin);
  const checks = { pkceCodeVerifier, expectedState: "a state" };
  await expect(client.authorizationCodeGrant(config, callback, checks)).rejects.toMatchObject({ error: "access_denied" });
});
