import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "./testing/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

test("a person signs in to an app: code, tokens, userinfo", async () => {
  const mara = await world.user("mara");
  const browser = world.browser();
  const session = await world.signIn(browser, mara);
  const app = await world.app(mara, { isConfidential: true });
  const { tokens } = await world.signInWith(
    app,
    session,
    browser,
    { scope: "openid profile email", nonce: "once" },
    { scopes: ["profile"] },
  );
  expect(tokens.token_type).toBe("bearer");
  expect(tokens.expires_in).toBe(28800);
  expect(tokens.access_token).toMatch(/^kh_oauth_[A-Za-z0-9_-]{43}$/);
  expect(tokens.scope).toBe("openid profile");
  const claims = await (await world.userinfo(tokens.access_token)).json();
  expect(claims).toMatchObject({ sub: mara.id, preferred_username: "mara", orgs: [], organizations: [] });
  expect(claims).not.toHaveProperty("email");
});
