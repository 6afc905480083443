import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { personActor } from "../../access/actor.ts";
import { isRecentlyAuthenticated } from "../../access/may.ts";
import { db } from "../../db.ts";
import { findOneTimeToken, issueOneTimeToken } from "../one-time-token.ts";
import { beginPasskeyRegistration } from "../second-step/register-passkey.ts";
import { findSiteSession } from "../sessions/find-site-session.ts";
import { anotherSession, freshName, from, signedInPerson, staleActor } from "../testing/people.ts";
import { forgotPassword, setPassword } from "../users/change-password.ts";
import { signIn } from "../users/sign-in.ts";
import { setSignUpPolicy } from "../users/sign-up-policy.ts";
import { linkIdentity, listLinkedIdentities, unlinkIdentity } from "./linked-identities.ts";
import { findPendingIdentity, signUpWithIdentity } from "./pending-identity.ts";
import { startProviderSignIn } from "./start-provider-sign-in.ts";
import { startTestProvider } from "./testing/provider-sign-in.ts";

const { issuer, provider, signInVia, pendingToken, as, linked } = await startTestProvider();
afterAll(() => issuer.stop());
beforeEach(() => issuer.behave({}));

describe("an identity that is not linked yet", () => {
  test("gets an account with the verified address and no password if the operator allows sign-up", async () => {
    const one = await provider({ isSignUpAllowed: true });
    const sub = freshName("new");
    as(sub, { preferred_username: `${sub}@corp.example` });
    const token = await pendingToken(one, { next: "/interaction/uid" });
    expect(await findPendingIdentity(token, undefined)).toMatchObject({
      choice: "sign-up",
      username: sub,
      email: `${sub}@upstream.test`,
    });
    await expect(signUpWithIdentity(token, { username: "admin" }, from)).rejects.toMatchObject({ field: "username" });
    const { outcome, next } = await signUpWithIdentity(token, { username: sub }, from);
    expect([outcome.step, next]).toEqual(["done", "/interaction/uid"]);
    const user = await db().user.findUniqueOrThrow({ where: { id: outcome.userId } });
    expect(user).toMatchObject({ email: `${sub}@upstream.test`, passwordHash: null, emailVerifiedAt: expect.any(Date) });
    await expect(signUpWithIdentity(token, { username: freshName("again") }, from)).rejects.toMatchObject({ code: "gone" });
    await expect(signIn({ login: sub, password: "" }, from)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(signIn({ login: sub, password: "guess guess" }, from)).rejects.toMatchObject({ code: "unauthorized" });
    expect(await signInVia(one)).toMatchObject({ step: "enter", outcome: { userId: user.id } });
  });

  test("is not linked to an account with the same address until the account's owner signs in", async () => {
    const one = await provider({ isSignUpAllowed: true });
    const victim = await signedInPerson("victim");
    as(freshName("attacker"), { email: victim.email.toUpperCase() });
    const token = await pendingToken(one);
    expect(await findPendingIdentity(token, undefined)).toMatchObject({
      choice: "sign-in-first",
      hasAccount: true,
      maySignUp: false,
    });
    await expect(signUpWithIdentity(token, { username: freshName("x") }, from)).rejects.toMatchObject({ code: "conflict" });
    expect(await listLinkedIdentities(victim.id)).toEqual([]);
    expect(await findPendingIdentity(token, victim.actor)).toMatchObject({ choice: "link" });
    await expect(linkIdentity(staleActor(victim.actor), token, from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    await linkIdentity(victim.actor, token, from);
    expect(await listLinkedIdentities(victim.id)).toHaveLength(1);
  });

  test("gets an account only with a verified address and only if sign-up is allowed", async () => {
    const [open, closed] = [await provider({ isSignUpAllowed: true }), await provider()];
    for (const email_verified of [false, "true", undefined]) {
      as(freshName("unverified"), { email_verified });
      const token = await pendingToken(open);
      expect(await findPendingIdentity(token, undefined)).toMatchObject({
        choice: "sign-in-first",
        hasAccount: false,
        email: null,
      });
      await expect(signUpWithIdentity(token, { username: freshName("u") }, from)).rejects.toMatchObject({ code: "forbidden" });
    }
    as(freshName("closed"));
    const token = await pendingToken(closed);
    await expect(signUpWithIdentity(token, { username: freshName("u") }, from)).rejects.toMatchObject({ code: "forbidden" });
    // Creating an account with a password is offered only where anybody may do so.
    const operator = await signedInPerson("operator", { isOperator: true });
    for (const isOpen of [true, false, true]) {
      await setSignUpPolicy(operator.actor, { isOpen }, from);
      expect(await findPendingIdentity(token, undefined)).toMatchObject({ choice: "sign-in-first", maySignUp: isOpen });
    }
  });
});

describe("linking, unlinking and reauthenticating", () => {
  test("an identity that is linked to another account cannot be linked", async () => {
    const one = await provider();
    const owner = await linked(one, "taken");
    const thief = await signedInPerson("thief");
    await db().linkedIdentity.updateMany({ where: { userId: owner.id }, data: { lastUsedAt: new Date(0) } });
    expect(await signInVia(one, { person: thief, intent: "link" })).toMatchObject({
      step: "failed",
      reason: "of-another",
    });
    expect(await listLinkedIdentities(owner.id)).toMatchObject([{ lastUsedAt: new Date(0) }]);
    as(freshName("race"));
    const tokens = [
      await pendingToken(one, { person: thief, intent: "link" }),
      await pendingToken(one, { person: owner, intent: "link" }),
    ];
    const done = await Promise.allSettled([
      linkIdentity(thief.actor, tokens[0] ?? "", from),
      linkIdentity(owner.actor, tokens[1] ?? "", from),
    ]);
    expect(done.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("are refused if another user continues the flow, or if nobody is signed in", async () => {
    const one = await provider();
    const [person, someone] = [await signedInPerson(), await signedInPerson()];
    as(freshName("switch"));
    for (const actor of [someone.actor, undefined]) {
      expect(await signInVia(one, { person, intent: "link" }, { actor })).toMatchObject({ reason: "not-you" });
    }
    await expect(startProviderSignIn({ slug: one.slug, intent: "link", next: "/" }, undefined, from)).rejects.toMatchObject({
      code: "unauthorized",
    });
    await expect(
      startProviderSignIn({ slug: one.slug, intent: "link", next: "/" }, staleActor(person.actor), from),
    ).rejects.toMatchObject({ code: "reauthentication_required" });
  });

  test("an identity that one user began to link cannot be used by the next user of the browser", async () => {
    const one = await provider({ isSignUpAllowed: true });
    const [person, next] = [await signedInPerson(), await signedInPerson()];
    const sub = freshName("left");
    as(sub);
    const token = await pendingToken(one, { person, intent: "link" });
    for (const actor of [next.actor, undefined]) expect(await findPendingIdentity(token, actor)).toBeUndefined();
    await expect(linkIdentity(next.actor, token, from)).rejects.toMatchObject({ code: "gone" });
    await expect(signUpWithIdentity(token, { username: sub }, from)).rejects.toMatchObject({ code: "gone" });
    expect(await findPendingIdentity(token, person.actor)).toMatchObject({ choice: "link" });
    await linkIdentity(person.actor, token, from);
  });

  test("S113 the last sign-in method cannot be removed, even by two removals at the same time", async () => {
    const one = await provider({ isSignUpAllowed: true });
    const sub = freshName("only");
    as(sub);
    const { outcome } = await signUpWithIdentity(await pendingToken(one), { username: sub }, from);
    const person = {
      id: outcome.userId,
      email: `${sub}@upstream.test`,
      username: sub,
      ...(await anotherSession(outcome.userId)),
    };
    const [first] = await listLinkedIdentities(person.id);
    const unlink = (id = first?.id ?? "") => unlinkIdentity(person.actor, id, from);
    await expect(unlink()).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("only way to sign in") });
    as(freshName("second"));
    await linkIdentity(person.actor, await pendingToken(one, { person, intent: "link" }), from);
    const both = (await listLinkedIdentities(person.id)).map(({ id }) => id);
    const settled = await Promise.allSettled(both.map(unlink));
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const [left] = await listLinkedIdentities(person.id);
    await expect(setPassword(staleActor(person.actor), { newPassword: "a lantern on the sea" }, from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    const elsewhere = await anotherSession(person.id);
    const begun = await issueOneTimeToken(db(), { purpose: "change-email", data: { email: "x@y.test" }, userId: person.id });
    await setPassword(person.actor, { newPassword: "a lantern on the sea" }, from);
    expect(await findSiteSession(elsewhere.token)).toBeUndefined();
    expect(await findSiteSession(person.token)).toBeDefined();
    expect(await findOneTimeToken(begun, "change-email")).toBeUndefined();
    await expect(setPassword(person.actor, { newPassword: "another lantern out" }, from)).rejects.toMatchObject({
      code: "conflict",
    });
    await unlink(left?.id);
    expect(await listLinkedIdentities(person.id)).toEqual([]);
    expect(await signIn({ login: sub, password: "a lantern on the sea" }, from)).toMatchObject({ step: "done" });
    const stranger = await linked(one, freshName("theirs"));
    const [theirs] = await listLinkedIdentities(stranger.id);
    await expect(unlink(theirs?.id)).rejects.toMatchObject({ code: "not_found" });
    await forgotPassword({ email: person.email }, from);
  });

  test("S113 reauthentication at a provider requires the same identity and an auth_time after the request", async () => {
    const one = await provider({ isSignUpAllowed: true });
    const withPassword = await linked(one, freshName("pw"));
    await expect(
      startProviderSignIn({ slug: one.slug, intent: "reauthenticate", next: "/" }, withPassword.actor, from),
    ).rejects.toMatchObject({ code: "forbidden" });
    const sub = freshName("anew");
    as(sub);
    const { outcome } = await signUpWithIdentity(await pendingToken(one), { username: sub }, from);
    const session = await anotherSession(outcome.userId);
    const person = {
      id: outcome.userId,
      email: "",
      username: sub,
      token: session.token,
      actor: staleActor(session.actor),
    };
    const go = () => signInVia(one, { person, intent: "reauthenticate" });
    const { url } = await startProviderSignIn({ slug: one.slug, intent: "reauthenticate", next: "/" }, person.actor, from);
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({ prompt: "login", max_age: "0" });
    as(sub, { auth_time: Math.floor(Date.now() / 1000) - 3600 });
    expect(await go()).toMatchObject({ reason: "not-anew" });
    as(sub, { auth_time: undefined });
    expect(await go()).toMatchObject({ reason: "not-anew" });
    as(freshName("someone-else"));
    expect(await go()).toMatchObject({ reason: "not-you" });
    as(sub);
    expect(await go()).toMatchObject({ step: "enter", outcome: { step: "done", userId: person.id } });
    const row = await db().siteSession.findUniqueOrThrow({ where: { id: person.actor.sessionId } });
    expect(Date.now() - row.authenticatedAt.getTime()).toBeLessThan(10_000);
  });

  test("S113 the session gets the provider's authentication time unless the session's own is newer", async () => {
    const one = await provider();
    const sub = freshName("unlocked");
    const person = await linked(one, sub);
    const provedFor = async (auth_time: unknown, token: string | undefined = undefined) => {
      as(sub, { auth_time });
      const entered = await signInVia(one, { person: { ...person, token: token ?? "" } });
      if (entered.step !== "enter" || entered.outcome.step !== "done") throw new Error(JSON.stringify(entered));
      const session = await findSiteSession(entered.outcome.token);
      if (!session) throw new Error("no session");
      return { session, token: entered.outcome.token };
    };
    const now = Math.floor(Date.now() / 1000);
    for (const told of [undefined, now - 3600, 1e20]) {
      const { session } = await provedFor(told);
      expect([told, isRecentlyAuthenticated(session)]).toEqual([told, false]);
      await expect(beginPasskeyRegistration(personActor(session), from)).rejects.toMatchObject({
        code: "reauthentication_required",
      });
    }
    const old = await provedFor(undefined);
    const again = await provedFor(undefined, old.token);
    expect([again.session.id, isRecentlyAuthenticated(again.session)]).toEqual([old.session.id, false]);
    expect(isRecentlyAuthenticated((await provedFor(now)).session)).toBe(true);
    const { session } = await provedFor(now - 3600, person.token);
    expect(session).toMatchObject({ id: person.actor.sessionId, methods: ["pwd"] });
    expect(isRecentlyAuthenticated(session)).toBe(true);
  });
});
