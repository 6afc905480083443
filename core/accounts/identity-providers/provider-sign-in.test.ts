import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { db } from "#core/db.ts";
import { auditTrail, emailsTo, from } from "../testing/people.ts";
import { listLinkedIdentities } from "./linked-identities.ts";
import { disableIdentityProvider, enableIdentityProvider } from "./manage-identity-providers.ts";
import { type Callback, receiveCallback } from "./receive-callback.ts";
import { startProviderSignIn } from "./start-provider-sign-in.ts";
import { startHandMadeIssuer } from "./testing/hand-made-issuer.ts";
import { startTestProvider } from "./testing/provider-sign-in.ts";

const { issuer, provider, signInVia, as, linked } = await startTestProvider();
const other = await startHandMadeIssuer();
afterAll(() => Promise.all([issuer.stop(), other.stop()]));
beforeEach(() => issuer.behave({}));

describe("a linked identity", () => {
  test("signs in the user who linked its provider and subject, whatever its current email address", async () => {
    const one = await provider();
    const person = await linked(one, "ada-1");
    expect((await emailsTo(person.email))[0]?.subject).toContain("Upstream is linked");
    as("ada-1", { email: "renamed@upstream.test" });
    const outcome = await signInVia(one, { next: "/interaction/uid" });
    expect(outcome).toMatchObject({ step: "enter", next: "/interaction/uid", outcome: { step: "done", userId: person.id } });
    expect(await listLinkedIdentities(person.id)).toMatchObject([{ displayName: "renamed@upstream.test" }]);
    expect(await auditTrail({ subjectId: person.id })).toEqual(expect.arrayContaining(["linked_identity.link", "user.sign_in"]));
    as("mallory", { email: person.email });
    expect((await signInVia(one)).step).toBe("pending");
  });

  test("requires the account's second step, whatever the provider reports about its own", async () => {
    const one = await provider();
    const person = await linked(one, "two-steps");
    await db().totp.create({ data: { userId: person.id, sealedSecret: new Uint8Array([1]), confirmedAt: new Date() } });
    as("two-steps", { amr: ["mfa", "otp", "hwk"], acr: "phr" });
    expect(await signInVia(one)).toMatchObject({ step: "enter", outcome: { step: "second-step", userId: person.id } });
  });

  test("S112 does not sign in to a disabled account or while the provider is disabled", async () => {
    const one = await provider();
    const person = await linked(one, "gone");
    await disableIdentityProvider(operatorCommand, one.slug, from);
    await expect(signInVia(one)).rejects.toMatchObject({ code: "not_found" });
    await enableIdentityProvider(operatorCommand, one.slug, from);
    await db().user.update({ where: { id: person.id }, data: { disabledAt: new Date() } });
    expect(await signInVia(one)).toMatchObject({ step: "failed", reason: "disabled" });
  });
});

describe("login CSRF and replay", () => {
  test("S34 a response is accepted once, and only in the browser that started the sign-in", async () => {
    const one = await provider();
    await linked(one, "csrf");
    const { url, browser } = await startProviderSignIn({ slug: one.slug, intent: "sign-in", next: "/" }, undefined, from);
    const elsewhere = await startProviderSignIn({ slug: one.slug, intent: "sign-in", next: "/" }, undefined, from);
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

  test("a pending sign-in expires after ten minutes", async () => {
    const one = await provider();
    const { url, browser } = await startProviderSignIn({ slug: one.slug, intent: "sign-in", next: "/" }, undefined, from);
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

  test("a thief of a pending sign-in's stored row cannot complete the sign-in", async () => {
    const one = await provider();
    const { url, browser } = await startProviderSignIn({ slug: one.slug, intent: "sign-in", next: "/" }, undefined, from);
    const parameters = new URL(url).searchParams;
    const rows = JSON.stringify(await db().oneTimeToken.findMany());
    for (const secret of [browser, parameters.get("state"), parameters.get("nonce")]) expect(rows).not.toContain(secret);
    expect(parameters.get("code_challenge_method")).toBe("S256");
    expect(parameters.get("redirect_uri")).toBe(`http://localhost:3000/login/with/${one.slug}/callback`);
  });
});

describe("an invalid response", () => {
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

  test("S41 is refused if one of nonce, aud, iss, exp, sub, alg and signature is wrong", async () => {
    const one = await provider();
    for (const [name, forgery] of forgeries) {
      issuer.behave(forgery);
      expect([name, await signInVia(one)]).toEqual([name, expect.objectContaining({ step: "failed", reason: "unacceptable" })]);
    }
    issuer.behave({});
    expect((await signInVia(one)).step).toBe("pending");
  });

  test("S137 is refused if verifying it with the issuer's key takes too long", async () => {
    const costly = await startHandMadeIssuer();
    const one = await provider({ issuer: costly.origin });
    const { publicKey, privateKey } = await generateKeyPair("RS256", { modulusLength: 4_104, extractable: true });
    costly.behave({
      keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "RS256", use: "sig" }],
      idToken: (claims) => new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "k" }).sign(privateKey),
    });
    const { url, browser } = await startProviderSignIn({ slug: one.slug, intent: "sign-in", next: "/" }, undefined, from);
    const callback = { slug: one.slug, parameters: costly.respondTo(url), browser, actor: undefined, sessionToken: undefined };
    expect(await receiveCallback(callback, from)).toMatchObject({ step: "failed", reason: "unacceptable" });
    await costly.stop();
  });

  test("RFC 9207 is refused as a mix-up if another issuer sent it, or if it arrives at another provider's URL", async () => {
    const [one, two] = [await provider(), await provider({ issuer: other.origin })];
    expect(await signInVia(one, {}, { answer: { iss: other.origin } })).toMatchObject({ reason: "unacceptable" });
    expect(await signInVia(one, {}, { answer: { iss: undefined } })).toMatchObject({ reason: "unacceptable" });
    expect(await signInVia(one, {}, { slug: two.slug })).toMatchObject({ reason: "expired" });
  });

  test("a provider's failures and refusals are reported in this service's own words", async () => {
    const one = await provider();
    const refused = { code: undefined, error: "access_denied", error_description: "<script>" };
    expect(await signInVia(one, { next: "/x" }, { answer: refused })).toEqual({
      step: "failed",
      reason: "cancelled",
      slug: one.slug,
      next: "/x",
      isSignIn: true,
    });
    expect(await signInVia(one, {}, { answer: { ...refused, error: "server_error" } })).toMatchObject({
      reason: "failed",
    });
    issuer.behave({ delayMs: 6_000 });
    expect(await signInVia(one)).toMatchObject({ reason: "unreachable" });
  });
});
