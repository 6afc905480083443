import NextAuth from "next-auth";
import { expect, onTestFinished, test, vi } from "vitest";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { signedInPerson } from "#core/accounts/testing/people.ts";
import { pool } from "#core/db.ts";
import { log } from "#core/log.ts";
import { nextAuthOptions } from "./next-auth-options.ts";

/** Pages/api routes work without a running Next, unlike app routes. */
const askForSession = (token: string) =>
  new Promise((send) => {
    const req = { method: "GET", headers: {}, query: { nextauth: ["session"] }, cookies: { [siteSessionCookie().name]: token } };
    const res = { send, status: () => res, getHeader: () => undefined, setHeader: () => res };
    void NextAuth(req as never, res as never, nextAuthOptions());
  });

test("a cookie without a session gets no session, and writes no error into the log; a failed lookup does", async () => {
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
