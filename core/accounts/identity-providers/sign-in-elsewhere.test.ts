import { UnsecuredJWT } from "jose";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { startHttpsSite } from "../../testing/https-site.ts";
import {
  anotherSession,
  auditTrail,
  freshName,
  from,
  lettersTo,
  longAgo,
  organizationOf,
  signedInPerson,
} from "../testing/people.ts";
import { forgotPassword } from "../users/forgot-password.ts";
import { setPassword } from "../users/set-password.ts";
import { signIn } from "../users/sign-in.ts";
import { addIdentityProvider, type NewIdentityProvider } from "./add-identity-provider.ts";
import { disableIdentityProvider, enableIdentityProvider } from "./disable-identity-provider.ts";
import type { IdentityProvider } from "./identity-provider.ts";
import { linkIdentity } from "./link-identity.ts";
import { listLinkedIdentities } from "./list-linked-identities.ts";
import { findPendingIdentity } from "./pending-identity.ts";
import { type Callback, receiveCallback } from "./receive-callback.ts";
import { removeIdentityProvider } from "./remove-identity-provider.ts";
import { signUpWithIdentity } from "./sign-up-with-identity.ts";
import { type SignInElsewhere, startSignInElsewhere } from "./start-sign-in-elsewhere.ts";
import { startHandMadeIssuer } from "./testing/hand-made-issuer.ts";
import { unlinkIdentity } from "./unlink-identity.ts";
import { updateIdentityProvider } from "./update-identity-provider.ts";

const issuer = await startHandMadeIssuer();
const other = await startHandMadeIssuer();
afterAll(() => Promise.all([issuer.stop(), other.stop()]));
beforeEach(() => issuer.behave({}));

let count = 0;
async function provider(changes: Partial<NewIdentityProvider> = {}): Promise<IdentityProvider> {
  const input = {
    orgId: null,
    kind: "oidc",
    slug: `p-${++count}`,
    name: "Upstream",
    issuer: issuer.origin,
    clientId: "us",
    clientSecret: "s",
  };
  return addIdentityProvider(operatorCommand, { ...input, ...changes }, from);
}

type Person = Awaited<ReturnType<typeof signedInPerson>>;

/** From the button to the answer, which `changes` may spoil. */
async function goThrough(
  { slug }: { slug: string },
  { person, intent = "sign-in", next = "/after" }: { person?: Person; intent?: SignInElsewhere["intent"]; next?: string } = {},
  changes: Partial<Callback> & { answer?: Record<string, string | undefined> } = {},
) {
  const { url, browser } = await startSignInElsewhere({ slug, intent, next }, person?.actor, from);
  const { answer, ...callback } = changes;
  const parameters = issuer.respondTo(url, answer);
  return receiveCallback({ slug, parameters, browser, actor: person?.actor, sessionToken: person?.token, ...callback }, from);
}

async function pendingToken(...go: Parameters<typeof goThrough>): Promise<string> {
  const outcome = await goThrough(...go);
  if (outcome.step !== "pending") throw new Error(JSON.stringify(outcome));
  return outcome.token;
}

const as = (sub: string, more: Record<string, unknown> = {}) =>
  issuer.behave({ claims: (honest) => ({ ...honest, sub, email: `${sub}@upstream.test`, ...more }) });

/** Somebody linked to a provider, by its own pages. */
async function linked(one: IdentityProvider, sub: string): Promise<Person> {
  as(sub);
  const person = await signedInPerson();
  await linkIdentity(person.actor, await pendingToken(one, { person, intent: "link" }), from);
  return person;
}

describe("who is known", () => {
  test("signs in by provider and subject, whatever the e-mail address is by now; the identity is found again, not made", async () => {
    const one = await provider();
    const person = await linked(one, "ada-1");
    expect((await lettersTo(person.email))[0]?.subject).toContain("Upstream is linked");
    as("ada-1", { email: "renamed@upstream.test" });
    const outcome = await goThrough(one, { next: "/interaction/uid" });
    expect(outcome).toMatchObject({ step: "enter", next: "/interaction/uid", outcome: { step: "done", userId: person.id } });
    expect(await listLinkedIdentities(person.id)).toMatchObject([{ displayName: "renamed@upstream.test" }]);
    expect(await auditTrail({ subjectId: person.id })).toEqual(expect.arrayContaining(["linked_identity.link", "user.sign_in"]));
    // The address alone makes nobody anybody: this is somebody else's account there.
    as("mallory", { email: person.email });
    expect((await goThrough(one)).step).toBe("pending");
  });

  test("a second step that is set up here is asked for, whatever the provider says of its own", async () => {
    const one = await provider();
    const person = await linked(one, "two-steps");
    await db().totp.create({ data: { userId: person.id, sealedSecret: new Uint8Array([1]), confirmedAt: new Date() } });
    as("two-steps", { amr: ["mfa", "otp", "hwk"], acr: "phr" });
    expect(await goThrough(one)).toMatchObject({ step: "enter", outcome: { step: "second-step", userId: person.id } });
  });

  test("S112 a disabled account stays out; so does everybody while the provider is disabled", async () => {
    const one = await provider();
    const person = await linked(one, "gone");
    await disableIdentityProvider(operatorCommand, one.slug, from);
    await expect(goThrough(one)).rejects.toMatchObject({ code: "not_found" });
    await enableIdentityProvider(operatorCommand, one.slug, from);
    await db().user.update({ where: { id: person.id }, data: { disabledAt: new Date() } });
    expect(await goThrough(one)).toMatchObject({ step: "failed", reason: "disabled" });
  });
});

describe("login CSRF and replay", () => {
  test("S34 an answer counts in the browser that asked, once, and a stranger's try does not use it up", async () => {
    const one = await provider();
    await linked(one, "csrf");
    const { url, browser } = await startSignInElsewhere({ slug: one.slug, intent: "sign-in", next: "/" }, undefined, from);
    const elsewhere = await startSignInElsewhere({ slug: one.slug, intent: "sign-in", next: "/" }, undefined, from);
    const parameters = issuer.respondTo(url);
    const receive = (changes: Partial<Callback>) =>
      receiveCallback({ slug: one.slug, parameters, browser, actor: undefined, sessionToken: undefined, ...changes }, from);
    const expired = { step: "failed", reason: "expired" };
    expect(await receive({ browser: undefined })).toMatchObject(expired);
    expect(await receive({ browser: elsewhere.browser })).toMatchObject(expired);
    const wrongState = new URLSearchParams(parameters);
    wrongState.set("state", new URL(elsewhere.url).searchParams.get("state") as string);
    expect(await receive({ parameters: wrongState })).toMatchObject(expired);
    const twoStates = new URLSearchParams(parameters);
    twoStates.append("state", "another");
    expect(await receive({ parameters: twoStates })).toMatchObject(expired);
    expect(await receive({ parameters: new URLSearchParams("state=%00&code=1") })).toMatchObject(expired);

    const together = await Promise.all([receive({}), receive({}), receive({})]);
    expect(together.map(({ step }) => step).sort()).toEqual(["enter", "failed", "failed"]);
    expect(await receive({})).toMatchObject(expired);
  });

  test("after ten minutes nothing waits any more", async () => {
    const one = await provider();
    const { url, browser } = await startSignInElsewhere({ slug: one.slug, intent: "sign-in", next: "/" }, undefined, from);
    const waiting = await db().oneTimeToken.findFirstOrThrow({
      where: { purpose: "sign-in-elsewhere" },
      orderBy: { createdAt: "desc" },
    });
    expect(waiting.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(10 * 60 * 1000);
    await db().oneTimeToken.update({ where: { tokenHash: waiting.tokenHash }, data: { expiresAt: new Date() } });
    const parameters = issuer.respondTo(url);
    expect(
      await receiveCallback({ slug: one.slug, parameters, browser, actor: undefined, sessionToken: undefined }, from),
    ).toMatchObject({ reason: "expired" });
  });

  test("what is stored of a sign-in under way completes none: state, nonce and verifier come of the browser's secret", async () => {
    const one = await provider();
    const { url, browser } = await startSignInElsewhere({ slug: one.slug, intent: "sign-in", next: "/" }, undefined, from);
    const parameters = new URL(url).searchParams;
    const rows = JSON.stringify(await db().oneTimeToken.findMany());
    for (const secret of [browser, parameters.get("state"), parameters.get("nonce")]) expect(rows).not.toContain(secret);
    expect(parameters.get("code_challenge_method")).toBe("S256");
    expect(parameters.get("redirect_uri")).toBe(`http://localhost:3000/login/with/${one.slug}/callback`);
  });
});

describe("an answer that proves nothing", () => {
  const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const forgeries: [string, Parameters<typeof issuer.behave>[0]][] = [
    ["the nonce of another sign-in", { claims: (honest) => ({ ...honest, nonce: "another" }) }],
    ["no nonce", { claims: ({ nonce: _, ...honest }) => honest }],
    ["another audience", { claims: (honest) => ({ ...honest, aud: "somebody else's client" }) }],
    ["two audiences and another azp", { claims: (honest) => ({ ...honest, aud: ["us", "them"], azp: "them" }) }],
    ["another issuer in the token", { claims: (honest) => ({ ...honest, iss: "https://evil.example" }) }],
    ["an expired token", { claims: (honest) => ({ ...honest, exp: Math.floor(Date.now() / 1000) - 3600 }) }],
    ["no sub", { claims: ({ sub: _, ...honest }) => honest }],
    ["a sub that cannot be kept", { claims: (honest) => ({ ...honest, sub: "a\0b" }) }],
    ["a sub of 300 characters", { claims: (honest) => ({ ...honest, sub: "a".repeat(300) }) }],
    ["alg none", { idToken: (claims) => new UnsecuredJWT(claims).encode() }],
    [
      "HS256 with the client secret",
      {
        idToken: async (claims) => {
          const signed = `${b64({ alg: "HS256" })}.${b64(claims)}`;
          const key = await crypto.subtle.importKey("raw", Buffer.from("s"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
          return `${signed}.${Buffer.from(await crypto.subtle.sign("HMAC", key, Buffer.from(signed))).toString("base64url")}`;
        },
      },
    ],
    ["a key of its own under the same kid", { idToken: (claims) => other.sign({ ...claims, iss: issuer.origin }) }],
    [
      "claims that were changed after signing",
      {
        idToken: async (claims) => {
          const [header, , signature] = (await issuer.sign(claims)).split(".");
          return `${header}.${b64({ ...claims, sub: "ada-1" })}.${signature}`;
        },
      },
    ],
    ["no ID token", { idToken: () => undefined as never }],
  ];

  test("S41 is refused: nonce, aud, iss, exp, alg and signature, each by itself", async () => {
    const one = await provider();
    for (const [name, forgery] of forgeries) {
      issuer.behave(forgery);
      expect([name, await goThrough(one)]).toEqual([name, expect.objectContaining({ step: "failed", reason: "unacceptable" })]);
    }
    issuer.behave({});
    expect((await goThrough(one)).step).toBe("pending");
  });

  test("RFC 9207 an answer of another issuer, or at another provider's address, is a mix-up", async () => {
    const [one, two] = [await provider(), await provider({ issuer: other.origin })];
    expect(await goThrough(one, {}, { answer: { iss: other.origin } })).toMatchObject({ reason: "unacceptable" });
    expect(await goThrough(one, {}, { answer: { iss: undefined } })).toMatchObject({ reason: "unacceptable" });
    expect(await goThrough(one, {}, { slug: two.slug })).toMatchObject({ reason: "expired" });
  });

  test("what the provider could not or would not do is told, with no word of its own", async () => {
    const one = await provider();
    const refused = { code: undefined, error: "access_denied", error_description: "<script>" };
    expect(await goThrough(one, { next: "/x" }, { answer: refused })).toEqual({
      step: "failed",
      reason: "cancelled",
      slug: one.slug,
      next: "/x",
      isSignIn: true,
    });
    expect(await goThrough(one, {}, { answer: { ...refused, error: "server_error" } })).toMatchObject({ reason: "failed" });
    issuer.behave({ delayMs: 6_000 });
    expect(await goThrough(one)).toMatchObject({ reason: "unreachable" });
  });
});

describe("who is not known yet", () => {
  test("gets an account where the operator allows it, with the verified address and no password", async () => {
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
    expect(await goThrough(one)).toMatchObject({ step: "enter", outcome: { userId: user.id } });
  });

  test("is never linked to the account that has the same address: they sign in to it first", async () => {
    const one = await provider({ isSignUpAllowed: true });
    const victim = await signedInPerson("victim");
    as(freshName("attacker"), { email: victim.email.toUpperCase() });
    const token = await pendingToken(one);
    expect(await findPendingIdentity(token, undefined)).toMatchObject({ choice: "sign-in-first", hasAccount: true });
    await expect(signUpWithIdentity(token, { username: freshName("x") }, from)).rejects.toMatchObject({ code: "conflict" });
    expect(await listLinkedIdentities(victim.id)).toEqual([]);
    // Whoever signed in to it may link it, and is asked.
    expect(await findPendingIdentity(token, victim.actor)).toMatchObject({ choice: "link" });
    await expect(linkIdentity(longAgo(victim.actor), token, from)).rejects.toMatchObject({ code: "reauthentication_required" });
    await linkIdentity(victim.actor, token, from);
    expect(await listLinkedIdentities(victim.id)).toHaveLength(1);
  });

  test("gets none with an address that is not verified, nor where sign-up is not allowed", async () => {
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
  });
});

describe("linking, unlinking and proving anew", () => {
  test("one identity is one account's: another's sign-in says so and links nothing", async () => {
    const one = await provider();
    const owner = await linked(one, "taken");
    const thief = await signedInPerson("thief");
    expect(await goThrough(one, { person: thief, intent: "link" })).toMatchObject({ step: "failed", reason: "of-another" });
    // Two at the same moment: one of them.
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

  test("begun by one and answered as another, or signed out: nothing", async () => {
    const one = await provider();
    const [person, someone] = [await signedInPerson(), await signedInPerson()];
    as(freshName("switch"));
    for (const actor of [someone.actor, undefined]) {
      expect(await goThrough(one, { person, intent: "link" }, { actor })).toMatchObject({ reason: "not-you" });
    }
    await expect(startSignInElsewhere({ slug: one.slug, intent: "link", next: "/" }, undefined, from)).rejects.toMatchObject({
      code: "unauthorized",
    });
    await expect(
      startSignInElsewhere({ slug: one.slug, intent: "link", next: "/" }, longAgo(person.actor), from),
    ).rejects.toMatchObject({ code: "reauthentication_required" });
  });

  test("S113 the last way in stays, two unlinked at once too; who has no password can set one", async () => {
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
    await expect(unlink()).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("only way in") });
    as(freshName("second"));
    await linkIdentity(person.actor, await pendingToken(one, { person, intent: "link" }), from);
    const both = (await listLinkedIdentities(person.id)).map(({ id }) => id);
    const settled = await Promise.allSettled(both.map(unlink));
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const [left] = await listLinkedIdentities(person.id);
    await expect(setPassword(longAgo(person.actor), { newPassword: "a lantern on the sea" }, from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    await setPassword(person.actor, { newPassword: "a lantern on the sea" }, from);
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

  test("S113 proving anew takes the same identity and an auth_time since it was asked, and is for who has nothing else", async () => {
    const one = await provider({ isSignUpAllowed: true });
    const withPassword = await linked(one, freshName("pw"));
    await expect(
      startSignInElsewhere({ slug: one.slug, intent: "reauthenticate", next: "/" }, withPassword.actor, from),
    ).rejects.toMatchObject({ code: "forbidden" });
    const sub = freshName("anew");
    as(sub);
    const { outcome } = await signUpWithIdentity(await pendingToken(one), { username: sub }, from);
    const session = await anotherSession(outcome.userId);
    const person = { id: outcome.userId, email: "", username: sub, token: session.token, actor: longAgo(session.actor) };
    const go = () => goThrough(one, { person, intent: "reauthenticate" });
    const { url } = await startSignInElsewhere({ slug: one.slug, intent: "reauthenticate", next: "/" }, person.actor, from);
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
});

describe("setting one up", () => {
  test("S117 an issuer at a forbidden address, of another name or out of reach is refused, and says why", async () => {
    const admin = await signedInPerson();
    const organization = await organizationOf(admin);
    const refusal = async (changes: Partial<NewIdentityProvider>) => {
      const input = { orgId: organization.id, kind: "oidc", name: "Ours", clientId: "c", ...changes };
      return addIdentityProvider(admin.actor, input, from).then(
        () => "saved",
        ({ field, message }) => `${field}: ${message}`,
      );
    };
    expect(await refusal({ issuer: "http://169.254.169.254/latest" })).toBe(
      "issuer: This issuer could not be asked: the host is not on the public internet.",
    );
    expect(await refusal({ issuer: "https://10.0.0.1" })).toContain("not on the public internet");
    expect(await refusal({ issuer: "https://localhost:1" })).toContain("could not be asked");
    expect(await refusal({ issuer: "file:///etc/passwd" })).toContain("https://");
    expect(await refusal({ issuer: "https://user:pw@x.example" })).toContain("password");
    const discovery = async (change: (honest: Record<string, unknown>) => unknown) => {
      issuer.behave({ discovery: change });
      return refusal({ issuer: issuer.origin });
    };
    expect(await discovery((honest) => ({ ...honest, issuer: "https://evil.example" }))).toContain(
      "another issuer, “https://evil.example”",
    );
    expect(await discovery((honest) => ({ ...honest, authorization_endpoint: "javascript:alert(1)" }))).toContain(
      "authorization_endpoint",
    );
    expect(await discovery(({ jwks_uri: _, ...honest }) => honest)).toContain("names no jwks_uri");
    expect(await discovery((honest) => ({ ...honest, id_token_signing_alg_values_supported: ["none", "HS256"] }))).toContain(
      "signs",
    );
    expect(await discovery((honest) => ({ ...honest, code_challenge_methods_supported: ["plain"] }))).toContain("PKCE");
    expect(await discovery(() => [1])).toContain("no usable discovery document");
    const silent = await startHttpsSite();
    expect(await refusal({ issuer: silent.origin })).toContain("it answered 404");
    silent.answer(() => undefined);
    expect(await refusal({ issuer: silent.origin })).toContain("in time");
    await silent.stop();
    issuer.behave({});
    expect(await refusal({ issuer: issuer.origin })).toBe("saved");
    expect(await refusal({ issuer: issuer.origin })).toContain("has an issuer already");
    expect(await db().identityProvider.count({ where: { orgId: organization.id } })).toBe(1);
  });

  test("S130 the secret is sealed, kept when it is left empty, and in no audit entry", async () => {
    const one = await provider({ clientSecret: "a secret of the upstream" });
    await updateIdentityProvider(operatorCommand, one.slug, { name: "Renamed", clientSecret: "" }, from);
    const row = await db().identityProvider.findUniqueOrThrow({ where: { id: one.id } });
    expect(row).toMatchObject({ name: "Renamed", sealedClientSecret: expect.any(Uint8Array) });
    expect(Buffer.from(row.sealedClientSecret ?? []).toString("latin1")).not.toContain("a secret of the upstream");
    await updateIdentityProvider(operatorCommand, one.slug, { clientSecret: "another secret" }, from);
    expect(
      JSON.stringify(await db().auditEvent.findMany({ where: { type: { startsWith: "identity_provider." } } })),
    ).not.toContain("secret of");
    await expect(
      addIdentityProvider(operatorCommand, { orgId: null, kind: "oidc", slug: "org-x", clientId: "c" }, from),
    ).rejects.toMatchObject({
      field: "slug",
    });
    await expect(
      addIdentityProvider(operatorCommand, { orgId: null, kind: "github", slug: "gh", clientId: "c" }, from),
    ).rejects.toMatchObject({
      field: "clientSecret",
    });
    const member = await signedInPerson();
    await expect(addIdentityProvider(member.actor, { orgId: null, kind: "oidc", clientId: "c" }, from)).rejects.toMatchObject({
      code: "forbidden",
    });
    await expect(removeIdentityProvider(member.actor, one.slug, from)).rejects.toMatchObject({ code: "forbidden" });
    await linked(one, "removed-with-it");
    expect(await removeIdentityProvider(operatorCommand, one.slug, from)).toEqual({ unlinked: 1 });
  });
});
