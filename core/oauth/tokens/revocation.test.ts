import { afterAll, describe, expect, test } from "vitest";
import { asApp, refresh, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const REVOKE = "/oauth/revoke";
const confidential = { isConfidential: true, isRefreshAllowed: true } as const;
const isAlive = async (token: string) => (await world.userinfo(token)).status === 200;

describe("S105 revocation", () => {
  test.each([undefined, "refresh_token", "access_token", "something_else"])(
    "of a refresh token with the hint %s ends every token of the sign-in",
    async (token_type_hint) => {
      const at = await signIn(world, confidential);
      const { body } = await refresh(at, at.tokens.refresh_token);
      const answer = await asApp(world, at.app, REVOKE, { token: body.refresh_token, token_type_hint });
      expect([answer.status, await answer.text()]).toEqual([200, ""]);
      expect(await isAlive(at.tokens.access_token)).toBe(false);
      expect(await isAlive(body.access_token)).toBe(false);
      expect(await refresh(at, body.refresh_token)).toMatchObject({ body: { error: "invalid_grant" } });
    },
  );

  test("of an access token also ends its refresh token (RFC 7009 §2.1)", async () => {
    const at = await signIn(world, confidential);
    const other = await world.signInWith(at.app, at.session, at.browser);
    expect((await asApp(world, at.app, REVOKE, { token: at.tokens.access_token })).status).toBe(200);
    expect(await isAlive(at.tokens.access_token)).toBe(false);
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ body: { error: "invalid_grant" } });
    expect(await isAlive(other.tokens.access_token)).toBe(true);
  });

  test("of a replaced refresh token ends the access tokens of its successor", async () => {
    const at = await signIn(world, { ...confidential, isRefreshRotated: true });
    const { body } = await refresh(at, at.tokens.refresh_token);
    expect(body.refresh_token).not.toBe(at.tokens.refresh_token);
    await asApp(world, at.app, REVOKE, { token: at.tokens.refresh_token });
    expect(await isAlive(body.access_token)).toBe(false);
  });

  test("of another client's token gets the response for an unknown one", async () => {
    const [at, thief] = [await signIn(world, confidential), await signIn(world, confidential)];
    const answerTo = async (token: string) => {
      const answer = await asApp(world, thief.app, REVOKE, { token });
      const { date: _, ...headers } = Object.fromEntries(answer.headers);
      return { status: answer.status, headers, body: await answer.text() };
    };
    const unknown = await answerTo("kh_oauth_unknown");
    expect(unknown).toMatchObject({ status: 200, body: "" });
    expect(await answerTo(at.tokens.access_token)).toEqual(unknown);
    expect(await answerTo(at.tokens.refresh_token)).toEqual(unknown);
    expect(await isAlive(at.tokens.access_token)).toBe(true);
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 200 });
  });

  test("of a revoked token is not an error", async () => {
    const at = await signIn(world, confidential);
    const twice = [1, 2].map(() => asApp(world, at.app, REVOKE, { token: at.tokens.access_token }));
    for (const answer of await Promise.all(twice)) expect(answer.status).toBe(200);
    expect((await asApp(world, at.app, REVOKE, { token: at.tokens.access_token })).status).toBe(200);
  });

  test("by a client that does not authenticate fails with 401", async () => {
    const at = await signIn(world, confidential);
    const token = at.tokens.access_token;
    for (const answer of [
      await world.post(REVOKE, { token }),
      await world.post(REVOKE, { token, client_id: at.app.clientId }),
      await world.post(REVOKE, { token }, { authorization: world.basic(at.app.clientId, "wrong") }),
    ]) {
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ error: "invalid_client" });
    }
    expect(await isAlive(token)).toBe(true);
  });

  test("without a token fails with 400 invalid_request", async () => {
    const at = await signIn(world, confidential);
    const errorTo = async (form: Record<string, string>) => {
      const answer = await asApp(world, at.app, REVOKE, form);
      expect(answer.status).toBe(400);
      return (await answer.json()).error;
    };
    expect(await errorTo({})).toBe("invalid_request");
    expect(await errorTo({ token: at.tokens.id_token })).toBe("unsupported_token_type");
  });
});
