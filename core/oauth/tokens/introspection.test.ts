import { afterAll, describe, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { asApp, refresh, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const INTROSPECT = "/oauth/introspect";
const confidential = { isConfidential: true, isRefreshAllowed: true } as const;

describe("S104 introspection", () => {
  test("fails with 401 for a public client", async () => {
    const at = await signIn(world);
    const token = at.tokens.access_token;
    const answers = [
      await world.post(INTROSPECT, { token }),
      await world.post(INTROSPECT, { token, client_id: at.app.clientId }),
      await world.post(INTROSPECT, { token }, { authorization: world.basic(at.app.clientId, "") }),
      await world.post(INTROSPECT, { token }, { authorization: `Bearer ${token}` }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ error: "invalid_client" });
    }
  });

  test("describes a live token to its own client", async () => {
    const at = await signIn(world, confidential);
    for (const hint of [undefined, "access_token", "refresh_token", "something_else"]) {
      const answer = await asApp(world, at.app, INTROSPECT, { token: at.tokens.access_token, token_type_hint: hint });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(await answer.json()).toMatchObject({
        active: true,
        iss: world.origin,
        client_id: at.app.clientId,
        sub: at.person.id,
        scope: "openid profile",
        exp: expect.any(Number),
        iat: expect.any(Number),
      });
    }
    const answer = await asApp(world, at.app, INTROSPECT, { token: at.tokens.refresh_token });
    expect(await answer.json()).toMatchObject({ active: true, client_id: at.app.clientId });
  });

  test("returns only active: false for every other token", async () => {
    const [at, foreign, revoked, disabled] = [
      await signIn(world, confidential),
      await signIn(world, confidential),
      await signIn(world, confidential),
      await signIn(world, confidential),
    ];
    const used = await signIn(world, { ...confidential, isRefreshRotated: true });
    await refresh(used, used.tokens.refresh_token);
    await db().oAuthConsent.updateMany({ where: { clientId: revoked.app.clientId }, data: { revokedAt: new Date() } });
    await db().user.update({ where: { id: disabled.person.id }, data: { disabledAt: new Date() } });

    const cases = [
      [at, "unknown"],
      [at, foreign.tokens.access_token],
      [at, foreign.tokens.refresh_token],
      [at, foreign.tokens.id_token],
      [at, at.tokens.id_token],
      [at, at.code],
      [at, `${at.tokens.access_token}x`],
      [revoked, revoked.tokens.access_token],
      [disabled, disabled.tokens.access_token],
      [used, used.tokens.refresh_token],
    ] as const;
    for (const [asker, token] of cases) {
      const answer = await asApp(world, asker.app, INTROSPECT, { token });
      expect([answer.status, await answer.text()]).toEqual([200, '{"active":false}']);
    }
  });

  test("without a token fails with 400 invalid_request", async () => {
    const at = await signIn(world, confidential);
    const answer = await asApp(world, at.app, INTROSPECT, {});
    expect([answer.status, (await answer.json()).error]).toEqual([400, "invalid_request"]);
  });
});
