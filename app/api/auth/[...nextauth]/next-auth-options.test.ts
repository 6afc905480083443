import { hash } from "node:crypto";
import NextAuth from "next-auth";
import { expect, onTestFinished, test, vi } from "vitest";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { signedInPerson } from "#core/accounts/testing/people.ts";
import { derivedKey } from "#core/crypto/seal.ts";
import { pool } from "#core/db.ts";
import { log } from "#core/log.ts";
import { nextAuthOptions } from "./next-auth-options.ts";

/** Calls next-auth as a route of `pages/api` would, because such a route works without a running Next. */
const ask = (req: Record<string, unknown>, action: string) =>
  new Promise((send, reject) => {
    const res = { send, json: send, status: () => res, getHeader: () => undefined, setHeader: () => res };
    const all = { headers: {}, cookies: {}, ...req, query: { nextauth: [action] } };
    NextAuth(all as never, res as never, nextAuthOptions()).catch(reject);
  });

const askForSession = (token: string) => ask({ method: "GET", cookies: { [siteSessionCookie().name]: token } }, "session");

test("a failed look-up of a session is logged as an error, unlike a cookie that has no session", async () => {
  const error = vi.spyOn(log(), "error").mockReturnValue();
  onTestFinished(() => void vi.restoreAllMocks());
  const person = await signedInPerson();
  expect(await askForSession(person.token)).toMatchObject({ user: { name: person.username } });
  expect(await askForSession("made up")).toEqual({});
  expect(error).not.toHaveBeenCalled();
  vi.spyOn(pool(), "query").mockRejectedValue(new Error("the database is away") as never);
  expect(await askForSession(person.token)).toEqual({});
  expect(error).toHaveBeenCalledOnce();
});

test("S51 a form whose callback URL is invalid or on another site leads to our site", async () => {
  const { csrfToken } = (await ask({ method: "GET" }, "csrf")) as { csrfToken: string };
  const secret = derivedKey("next-auth").toString("base64url");
  const cookies = { "next-auth.csrf-token": `${csrfToken}|${hash("sha256", csrfToken + secret)}` };
  const signOut = async (callbackUrl: string) =>
    ask({ method: "POST", cookies, body: { csrfToken, callbackUrl, json: "true" } }, "signout");
  const origin = "http://localhost:3000";
  for (const url of ["x y", "https://", "https://evil.example/", "javascript:x", ""])
    expect(await signOut(url)).toEqual({ url: expect.stringMatching(new RegExp(`^${origin}(/|$)`)) });
  expect(await signOut("/\u4e2d")).toEqual({ url: `${origin}/%E4%B8%AD` });
});
