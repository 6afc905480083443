import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { operatorCommand, personActor } from "../../access/actor.ts";
import { ENTRIES_ABOUT } from "../../audit/record-about-somebody.ts";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { completeSignIn } from "../sessions/complete-sign-in.ts";
import { findSiteSession } from "../sessions/find-site-session.ts";
import {
  anotherSession,
  auditTrail,
  emailsTo,
  from,
  fromElsewhere,
  linkedToken,
  organizationOf,
  outcomes,
  PASSWORD,
  signedInPerson,
  staleActor,
} from "../testing/people.ts";
import { consumeThrottle, throttleKey } from "../throttle.ts";
import { forgotPassword, resetPassword } from "../users/change-password.ts";
import { disableUser } from "../users/disable-user.ts";
import { signIn } from "../users/sign-in.ts";
import { TOGGLES_PER_HOUR } from "./change-second-step.ts";
import { reauthenticate, reauthenticateWithoutPassword } from "./complete-reauthentication.ts";
import { CODE_DAY_LIMIT, CODE_LIMIT } from "./count-second-step-attempt.ts";
import { findSecondStep, hasSecondStep, listSignInRequirements } from "./find-second-step.ts";
import { type FinishSecondStepInput, finishSecondStep, type SecondStepProof } from "./finish-second-step.ts";
import { removePasskey, removeTotp, renamePasskey, resetSecondStep } from "./manage-second-step.ts";
import { makeRecoveryCodes } from "./recovery-codes.ts";
import { beginPasskeyRegistration, registerPasskey } from "./register-passkey.ts";
import {
  askForPasskeyAsSecondStep,
  askForPasskeyToReauthenticate,
  askForPasskeyToSignIn,
  reauthenticateWithPasskey,
  signInWithPasskey,
} from "./sign-in-with-passkey.ts";
import { authenticatorOf, firstStep, setUpAuthenticator, setUpPasskey } from "./testing/second-steps.ts";
import { SoftwarePasskey } from "./testing/software-passkey.ts";
import { matchingStep } from "./totp-code.ts";
import { confirmTotp, findTotpEnrolment, startTotpEnrolment } from "./totp-enrolment.ts";

const finish = (token: string | undefined, proof: SecondStepProof, session?: string) =>
  finishSecondStep({ token, proof, session } satisfies FinishSecondStepInput, fromElsewhere());
const withCode = (token: string, code: string) => finish(token, { kind: "code", code });

describe("codes of an authenticator app (RFC 6238)", () => {
  test("match the RFC's examples and are accepted one step early or late", () => {
    const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"; // appendix B, "12345678901234567890"
    const at = (seconds: number) => (code: string) => matchingStep(secret, code, seconds * 1000);
    expect(at(59)("287082")).toBe(1);
    expect(at(1_111_111_109)("081804")).toBe(37_037_036);
    expect(at(59 + 30)(" 287 082 ")).toBe(1);
    expect(at(59 - 30)("287082")).toBe(1);
    expect(at(59 + 60)("287082")).toBeUndefined();
    for (const wrong of ["", "287083", "28708", "2870820", "٢٨٧٠٨٢", "x".repeat(100_000)]) expect(at(59)(wrong)).toBeUndefined();
  });

  test("are required only after the user has entered a first code", async () => {
    const person = await signedInPerson();
    const { actor, id } = person;
    await startTotpEnrolment(actor);
    const { secret = "", uri = "" } = (await findTotpEnrolment(actor)) ?? {};
    expect(uri).toContain(`secret=${secret}`);
    expect(Buffer.from(secret, "ascii")).toHaveLength(32); // 160 bits
    await expect(confirmTotp(actor, { code: "000000" }, fromElsewhere())).rejects.toMatchObject({ field: "code" });
    expect(await hasSecondStep(id)).toBe(false);
    expect(await signIn({ login: person.username, password: PASSWORD }, fromElsewhere())).toMatchObject({ step: "done" });

    const code = authenticatorOf(secret).code();
    const both = [confirmTotp(actor, { code }, fromElsewhere()), confirmTotp(actor, { code }, fromElsewhere())];
    expect(await outcomes(both)).toEqual([expect.stringMatching(/conflict|gone/), "ok"]);
    expect(await findTotpEnrolment(actor)).toBeUndefined();
    const rows = JSON.stringify([
      await db().oneTimeToken.findMany({ where: { userId: id } }),
      await db().totp.findMany({ where: { userId: id }, omit: { lastStep: true } }),
    ]);
    expect(rows).not.toContain(secret);
    expect(await auditTrail({ subjectId: id })).toEqual(expect.arrayContaining(["totp.add", "second_step.on"]));
    expect((await emailsTo(person.email))[0]?.text).toContain("An authenticator app was set up");
    await expect(withCode(await firstStep(person), code)).rejects.toMatchObject({ code: "unauthorized", field: "code" });
  });

  test("of the old app are accepted until the user has entered a code of the new app", async () => {
    const person = await signedInPerson();
    const old = await setUpAuthenticator(person.actor);
    await startTotpEnrolment(person.actor);
    const fresh = authenticatorOf((await findTotpEnrolment(person.actor))?.secret ?? "");
    await withCode(await firstStep(person), old.code());
    await confirmTotp(person.actor, { code: fresh.code(-1) }, fromElsewhere());
    await expect(withCode(await firstStep(person), old.code(1))).rejects.toMatchObject({ code: "unauthorized" });
    await withCode(await firstStep(person), fresh.code());
  });
});

describe("signing in takes two steps", () => {
  test("the password alone starts no session, and a code starts one only once (S34)", async () => {
    const person = await signedInPerson();
    const authenticator = await setUpAuthenticator(person.actor);
    const sessions = () => db().siteSession.count({ where: { userId: person.id } });
    const before = await sessions();
    const outcome = await signIn({ login: person.username, password: PASSWORD }, fromElsewhere());
    expect(outcome.step).toBe("second-step");
    const { token } = outcome;
    expect(await sessions()).toBe(before);
    expect(await findSiteSession(token)).toBeUndefined();

    const code = authenticator.code();
    const done = await finish(token, { kind: "code", code }, person.token);
    const session = await findSiteSession(done.token);
    expect(session).toMatchObject({ userId: person.id, methods: ["pwd", "otp", "mfa"] });
    expect(await findSiteSession(person.token)).toBeUndefined();
    await expect(withCode(token, authenticator.code(1))).rejects.toMatchObject({ code: "gone" });
    await expect(withCode(await firstStep(person), code)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("one code signs in only once, even in parallel and at several pending sign-ins", async () => {
    const person = await signedInPerson();
    const authenticator = await setUpAuthenticator(person.actor);
    const [codes, code] = [await makeRecoveryCodes(person.actor, from), authenticator.code()];
    const tokens = await Promise.all([firstStep(person), firstStep(person), firstStep(person)]);
    const race = (proof: SecondStepProof) => outcomes(tokens.map((token) => finish(token, proof)));
    expect((await race({ kind: "code", code })).filter((one) => one === "ok")).toHaveLength(1);
    const again = await Promise.all([firstStep(person), firstStep(person), firstStep(person)]);
    const proof: SecondStepProof = { kind: "recovery-code", code: codes[0] ?? "" };
    expect((await outcomes(again.map((token) => finish(token, proof)))).filter((one) => one === "ok")).toHaveLength(1);
    const token = await firstStep(person);
    const other: SecondStepProof[] = codes.slice(1, 4).map((one) => ({ kind: "recovery-code", code: one }));
    expect((await outcomes(other.map((one) => finish(token, one)))).filter((one) => one === "ok")).toHaveLength(1);
  });

  test("a provider's authentication is a first step like the password", async () => {
    const person = await signedInPerson();
    const authenticator = await setUpAuthenticator(person.actor);
    const first = { methods: [], provedBy: "provider", providerId: newId() } as const;
    const pending = await db().$transaction((tx) => completeSignIn(tx, person.id, first, from));
    expect(pending).toMatchObject({ step: "second-step" });
    const done = await withCode(pending.token, authenticator.code());
    expect((await findSiteSession(done.token))?.methods).toEqual(["otp"]);
  });

  test("S115 too many wrong codes block only this method of the account, and the owner is notified", async () => {
    const person = await signedInPerson();
    const authenticator = await setUpAuthenticator(person.actor);
    const [recovery = ""] = await makeRecoveryCodes(person.actor, from);
    const token = await firstStep(person);
    for (let tries = 0; tries < CODE_LIMIT.limit; tries++) {
      await expect(withCode(token, "000000")).rejects.toMatchObject({ code: "unauthorized", field: "code" });
    }
    await expect(withCode(await firstStep(person), authenticator.code())).rejects.toMatchObject({ code: "rate_limited" });
    const messages = await emailsTo(person.email);
    expect(messages.filter(({ subject }) => subject.startsWith("Somebody could not finish"))).toHaveLength(1);
    expect((await auditTrail({ subjectId: person.id })).filter((type) => type === "second_step.failed")).toHaveLength(5);
    await finish(token, { kind: "recovery-code", code: recovery });
  });

  test("S115 a sign-in by the owner does not reset the day's count of attempts", async () => {
    const person = await signedInPerson();
    const authenticator = await setUpAuthenticator(person.actor);
    const key = throttleKey("second-step-code-day", person.id);
    for (let tries = 1; tries < CODE_DAY_LIMIT.limit; tries++) await consumeThrottle(key, CODE_DAY_LIMIT);
    await withCode(await firstStep(person), authenticator.code());
    const token = await firstStep(person);
    await expect(withCode(token, "000000")).rejects.toMatchObject({ code: "unauthorized" });
    await expect(withCode(token, "000000")).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("S115 a missing, invented, malformed or misused pending sign-in gets the same response", async () => {
    const person = await signedInPerson();
    await setUpAuthenticator(person.actor);
    const used = await firstStep(person);
    await db().oneTimeToken.updateMany({ where: { userId: person.id }, data: { expiresAt: new Date(0) } });
    const challenge = (await askForPasskeyToSignIn(fromElsewhere())).challenge;
    const answers = [undefined, "", "\0", "\ud800", "x".repeat(100_000), newId(), used, challenge, person.token].map(
      async (token) => finish(token, { kind: "code", code: "000000" }).catch((error: Error) => error.message),
    );
    expect(new Set(await Promise.all(answers)).size).toBe(1);
    const wrong = (login: string) =>
      signIn({ login, password: "some other words" }, fromElsewhere()).catch((error: Error) => error.message);
    expect(await wrong(person.username)).toBe(await wrong((await signedInPerson()).username));
  });

  test("a pending sign-in ends when the password is reset or the account is disabled", async () => {
    const person = await signedInPerson();
    const authenticator = await setUpAuthenticator(person.actor);
    const pending = await firstStep(person);
    // An intruder may have begun this setup and know its secret, so a new password must end it.
    await startTotpEnrolment(person.actor);
    await forgotPassword({ email: person.email }, fromElsewhere());
    await resetPassword(
      await linkedToken(person.email, "reset-password"),
      { password: "the tide turns at six" },
      fromElsewhere(),
    );
    await expect(withCode(pending, authenticator.code())).rejects.toMatchObject({ code: "gone" });
    expect(await findTotpEnrolment(person.actor)).toBeUndefined();
    const input = { login: person.username, password: "the tide turns at six" };
    const outcome = await signIn(input, fromElsewhere());
    expect(outcome).toMatchObject({ step: "second-step" });
    await disableUser(operatorCommand, person.id, from);
    await expect(withCode(outcome.token, authenticator.code())).rejects.toMatchObject({ code: "gone" });
  });
});

describe("recovery codes", () => {
  test("are ten, stored as hashes, and each works once as users type it", async () => {
    const person = await signedInPerson();
    await expect(makeRecoveryCodes(person.actor, from)).rejects.toMatchObject({ code: "conflict" });
    await setUpAuthenticator(person.actor);
    const first = await makeRecoveryCodes(person.actor, from);
    const codes = await makeRecoveryCodes(person.actor, from);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
    const rows = await db().recoveryCode.findMany({ where: { userId: person.id } });
    expect(rows).toHaveLength(10);
    for (const code of codes) expect(JSON.stringify(rows)).not.toContain(code.replace("-", ""));

    const using = async (code: string) => finish(await firstStep(person), { kind: "recovery-code", code });
    await expect(using(first[0] ?? "")).rejects.toMatchObject({ code: "unauthorized", field: "recoveryCode" });
    const done = await using(` ${codes[0]?.toUpperCase().replace("-", " ")} `);
    expect((await findSiteSession(done.token))?.methods).toEqual(["pwd", "otp", "mfa"]);
    await expect(using(codes[0] ?? "")).rejects.toMatchObject({ code: "unauthorized" });
    expect((await findSecondStep(person.id)).recoveryCodesLeft).toBe(9);
    expect((await emailsTo(person.email))[0]?.text).toContain("9 are left");
    const other = await signedInPerson();
    await setUpAuthenticator(other.actor);
    await makeRecoveryCodes(other.actor, from);
    const foreign = finish(await firstStep(other), { kind: "recovery-code", code: codes[1] ?? "" });
    await expect(foreign).rejects.toMatchObject({ code: "unauthorized" });
  });
});

describe("passkeys", () => {
  test("sign in alone or as the second step, and each use is recorded", async () => {
    const person = await signedInPerson();
    const passkey = await setUpPasskey(person.actor);
    const [listed] = (await findSecondStep(person.id)).passkeys;
    expect(listed).toMatchObject({ isBackedUp: false, lastUsedAt: null });

    const use = await askForPasskeyToSignIn(fromElsewhere());
    expect(use).toMatchObject({ userVerification: "required", allowCredentials: [] });
    passkey.counter = 1;
    const input = { response: passkey.answer(use), challenge: use.challenge, replaces: undefined };
    const done = await signInWithPasskey(input, fromElsewhere());
    expect(await findSiteSession(done.token)).toMatchObject({ userId: person.id, methods: ["pop", "mfa"] });
    await expect(signInWithPasskey(input, fromElsewhere()), "a replay").rejects.toMatchObject({ code: "unauthorized" });
    expect((await findSecondStep(person.id)).passkeys[0]?.lastUsedAt).not.toBeNull();

    const token = await firstStep(person);
    const asked = await askForPasskeyAsSecondStep(token, fromElsewhere());
    expect(asked.allowCredentials).toMatchObject([{ id: passkey.id.toString("base64url"), transports: ["internal"] }]);
    Object.assign(passkey, { counter: 2, isVerifying: false });
    const second = await finish(token, { kind: "passkey", response: passkey.answer(asked) });
    expect((await findSiteSession(second.token))?.methods).toEqual(["pwd", "pop", "mfa"]);
  });

  test("S117 are registered with any format of attestation, and the library does not see the statement", async () => {
    const { actor, id } = await signedInPerson();
    const formats = ["android-key", "android-safetynet", "apple", "fido-u2f", "packed", "tpm", "unknown"];
    for (const attestation of formats) await setUpPasskey(actor, Object.assign(new SoftwarePasskey(), { attestation }));
    expect((await findSecondStep(id)).passkeys).toHaveLength(formats.length);
  });

  test("S137 are refused with a wrong or too long ID or with a too long key", async () => {
    const { actor } = await signedInPerson();
    const register = async (changes: Partial<SoftwarePasskey>, id?: string) => {
      const passkey = Object.assign(new SoftwarePasskey(), changes);
      const made = passkey.register(await beginPasskeyRegistration(actor, fromElsewhere()));
      return registerPasskey(actor, id ? { ...made, id, rawId: id } : made, fromElsewhere());
    };
    const refused = { code: "invalid_request" };
    await expect(register({ id: randomBytes(5_000) }, "AAAA")).rejects.toMatchObject(refused);
    await expect(register({}, "AAAA")).rejects.toMatchObject(refused);
    await expect(register({ keyPadding: randomBytes(5_000) })).rejects.toMatchObject(refused);
    await expect(register({ keyPadding: randomBytes(500) })).resolves.toBeDefined();
  });

  test("are refused with the same error for every wrong response, which uses up its challenge", async () => {
    const [person, other] = [await signedInPerson(), await signedInPerson()];
    const passkey = await setUpPasskey(person.actor);
    const foreign = await setUpPasskey(other.actor);
    passkey.counter = 5;
    const attempt = async (change: (use: { challenge: string }) => unknown, cookie?: string) => {
      const use = await askForPasskeyToSignIn(fromElsewhere());
      const input = { response: change(use), challenge: cookie ?? use.challenge, replaces: undefined };
      return signInWithPasskey(input, fromElsewhere()).catch((error: Error & { code: string }) => error);
    };
    const without = (key: string) => (use: { challenge: string }) => {
      const answer = passkey.answer(use) as unknown as Record<string, Record<string, string>>;
      return { ...answer, response: { ...answer.response, [key]: "AAAA" } };
    };
    const elsewhere = Object.assign(new SoftwarePasskey("https://keyhook.evil.example"), { id: passkey.id });
    const refused = await Promise.all([
      attempt(without("signature")),
      attempt(without("authenticatorData")),
      attempt(without("clientDataJSON")),
      attempt((use) => new SoftwarePasskey().answer(use)), // unknown
      attempt((use) => elsewhere.answer(use)), // phished: another origin
      attempt((use) => passkey.answer(use, { userHandle: Buffer.from(other.id).toString("base64url") })),
      attempt((use) => passkey.answer(use, { userHandle: "" })),
      attempt((use) => Object.assign(foreign, { isVerifying: false }).answer(use)), // no user verification
      attempt((use) => passkey.answer(use), "another browser's challenge"),
      attempt(() => passkey.answer({ challenge: "AAAA" })),
      ...[undefined, null, 7, "x", {}, { response: null }, { response: { clientDataJSON: "\0" } }].map((nonsense) =>
        attempt(() => nonsense),
      ),
    ]);
    expect(new Set(refused.map((error) => `${(error as { code?: string }).code} ${(error as Error).message}`)).size).toBe(1);
    expect(refused[0]).toMatchObject({ code: "unauthorized" });
    const use = await askForPasskeyToSignIn(fromElsewhere());
    const answer = passkey.answer(use);
    const broken = { ...answer, response: { ...answer.response, signature: "AAAA" } };
    for (const response of [broken, answer]) {
      await expect(
        signInWithPasskey({ response, challenge: use.challenge, replaces: undefined }, fromElsewhere()),
      ).rejects.toThrow();
    }
  });

  test("S144 failures with passkeys at the second step are recorded up to a limit that codes do not have", async () => {
    const person = await signedInPerson();
    await setUpPasskey(person.actor);
    await setUpAuthenticator(person.actor);
    const recorded = () => db().auditEvent.count({ where: { type: "second_step.failed", subjectId: person.id } });
    const fail = async (proof: SecondStepProof) => {
      await expect(finish(await firstStep(person), proof)).rejects.toMatchObject({ code: "unauthorized" });
      return recorded();
    };
    expect(await fail({ kind: "passkey", response: {} })).toBe(1);
    await pool().query(
      `INSERT INTO audit_event (id, type, subject_id)
       SELECT gen_random_uuid(), 'second_step.failed', $1 FROM generate_series(2, $2)`,
      [person.id, ENTRIES_ABOUT],
    );
    expect(await fail({ kind: "passkey", response: {} })).toBe(ENTRIES_ABOUT);
    expect(await fail({ kind: "code", code: "nothing" })).toBe(ENTRIES_ABOUT + 1);
  });

  test("a counter that does not increase is refused, because it indicates a clone", async () => {
    const person = await signedInPerson();
    const passkey = await setUpPasskey(person.actor);
    const answerNow = async () => {
      const use = await askForPasskeyToSignIn(fromElsewhere());
      return { response: passkey.answer(use), challenge: use.challenge, replaces: undefined };
    };
    passkey.counter = 7;
    const inputs = [await answerNow(), await answerNow(), await answerNow()];
    const race = await outcomes(inputs.map((input) => signInWithPasskey(input, fromElsewhere())));
    expect(race).toEqual(["ok", "unauthorized", "unauthorized"]);
    await expect(signInWithPasskey(await answerNow(), fromElsewhere())).rejects.toMatchObject({ code: "unauthorized" });
    passkey.counter = 8;
    await signInWithPasskey(await answerNow(), fromElsewhere());
  });

  test("a challenge is for one person, one purpose and one session or sign-in", async () => {
    const [person, other] = [await signedInPerson(), await signedInPerson()];
    const passkey = await setUpPasskey(person.actor);
    await setUpPasskey(other.actor);
    const again = await anotherSession(person.id);
    const [mine, elsewhere, theirs] = [await firstStep(person), await firstStep(person), await firstStep(other)];
    const asSecond = (token: string, use: { challenge: string }) =>
      finish(token, { kind: "passkey", response: passkey.answer(use) });
    const refused = expect.objectContaining({ code: "unauthorized" });
    await expect(asSecond(mine, await askForPasskeyAsSecondStep(elsewhere, fromElsewhere()))).rejects.toEqual(refused);
    await expect(asSecond(mine, await askForPasskeyAsSecondStep(theirs, fromElsewhere()))).rejects.toEqual(refused);
    await expect(asSecond(mine, await askForPasskeyToSignIn(fromElsewhere()))).rejects.toEqual(refused);
    await expect(asSecond(mine, await askForPasskeyToReauthenticate(person.actor, fromElsewhere()))).rejects.toEqual(refused);
    await expect(asSecond(theirs, await askForPasskeyAsSecondStep(theirs, fromElsewhere()))).rejects.toEqual(refused);
    const ofAnotherSession = await askForPasskeyToReauthenticate(again.actor, fromElsewhere());
    const input = { response: passkey.answer(ofAnotherSession), session: person.token };
    await expect(reauthenticateWithPasskey(person.actor, input, fromElsewhere())).rejects.toEqual(refused);

    const options = await beginPasskeyRegistration(again.actor, fromElsewhere());
    expect(options.excludeCredentials).toMatchObject([{ id: passkey.id.toString("base64url") }]);
    const made = new SoftwarePasskey().register(options);
    await expect(registerPasskey(person.actor, made, fromElsewhere())).rejects.toMatchObject({ code: "invalid_request" });
    await expect(registerPasskey(again.actor, made, fromElsewhere())).rejects.toMatchObject({ code: "invalid_request" });
    const stolen = passkey.register(await beginPasskeyRegistration(other.actor, fromElsewhere()));
    await expect(registerPasskey(other.actor, stolen, fromElsewhere())).rejects.toMatchObject({ code: "conflict" });
  });

  test("S136 can be renamed and removed only by their user", async () => {
    const [person, other] = [await signedInPerson(), await signedInPerson()];
    const passkey = await setUpPasskey(person.actor);
    const [{ id } = { id: "" }] = (await findSecondStep(person.id)).passkeys;
    for (const one of [id, newId(), "\ud800"]) {
      await expect(removePasskey(other.actor, one, [], from)).rejects.toMatchObject({
        code: "not_found",
        message: "Passkey not found",
      });
      await expect(renamePasskey(other.actor, one, { name: "x" }, from)).rejects.toMatchObject({ code: "not_found" });
    }
    for (const none of ["\0", "x", { not: "" } as never, undefined as never]) {
      await expect(renamePasskey(person.actor, none, { name: "x" }, from)).rejects.toMatchObject({ code: "not_found" });
      await expect(removePasskey(person.actor, none, [], from)).rejects.toMatchObject({ code: "not_found" });
    }
    await expect(renamePasskey(person.actor, id, { name: "\u202e " }, from)).rejects.toMatchObject({ field: "name" });
    await renamePasskey(person.actor, id, { name: "  Key  ring " }, from);
    expect((await findSecondStep(person.id)).passkeys[0]?.name).toBe("Key ring");
    const use = await askForPasskeyToSignIn(fromElsewhere());
    const { passwordHash } = await db().user.findUniqueOrThrow({ where: { id: person.id } });
    await db().user.update({ where: { id: person.id }, data: { passwordHash: null } });
    await expect(removePasskey(person.actor, id, [], from), "the only way in").rejects.toMatchObject({ code: "conflict" });
    await db().user.update({ where: { id: person.id }, data: { passwordHash } });
    await removePasskey(person.actor, id, [], from);
    const input = { response: passkey.answer(use), challenge: use.challenge, replaces: undefined };
    await expect(signInWithPasskey(input, fromElsewhere())).rejects.toMatchObject({ code: "unauthorized" });
    expect(await signIn({ login: person.username, password: PASSWORD }, fromElsewhere())).toMatchObject({ step: "done" });
    expect(await auditTrail({ subjectId: person.id })).toEqual(
      expect.arrayContaining(["passkey.add", "second_step.on", "passkey.rename", "passkey.remove", "second_step.off"]),
    );
  });
});

describe("S113 recent authentication", () => {
  test("is required to make a change or to see the secret", async () => {
    const person = await signedInPerson();
    await setUpPasskey(person.actor);
    await startTotpEnrolment(person.actor);
    const stale = staleActor(person.actor);
    const [{ id } = { id: "" }] = (await findSecondStep(person.id)).passkeys;
    const options = await beginPasskeyRegistration(person.actor, fromElsewhere());
    const { secret = "" } = (await findTotpEnrolment(person.actor)) ?? {};
    const changes = [
      startTotpEnrolment(stale),
      findTotpEnrolment(stale),
      confirmTotp(stale, { code: authenticatorOf(secret).code() }, fromElsewhere()),
      removeTotp(stale, [], from),
      makeRecoveryCodes(stale, from),
      beginPasskeyRegistration(stale, fromElsewhere()),
      registerPasskey(stale, new SoftwarePasskey().register(options), fromElsewhere()),
      renamePasskey(stale, id, { name: "x" }, from),
      removePasskey(stale, id, [], from),
    ];
    expect(new Set(await outcomes(changes))).toEqual(new Set(["reauthentication_required"]));
  });

  test("takes the password and then the second step, both in the same session", async () => {
    const person = await signedInPerson();
    const authenticator = await setUpAuthenticator(person.actor);
    const elsewhere = await anotherSession(person.id);
    const pending = await reauthenticate(person.actor, PASSWORD, fromElsewhere());
    expect(pending).toMatchObject({ step: "second-step" });
    const carried = finish(pending.token, { kind: "code", code: authenticator.code() }, elsewhere.token);
    await expect(carried).rejects.toMatchObject({ code: "unauthorized" });
    await db().siteSession.update({ where: { id: person.actor.sessionId }, data: { authenticatedAt: new Date(0) } });
    const done = await finish(pending.token, { kind: "code", code: authenticator.code(1) }, person.token);
    const session = await findSiteSession(done.token);
    expect(session).toMatchObject({ id: person.actor.sessionId, methods: ["pwd", "otp", "mfa"] });
    expect(Date.now() - Number(session?.authenticatedAt)).toBeLessThan(60_000);
    expect(await findSiteSession(person.token)).toBeUndefined();
  });

  test("takes a passkey alone if its device verifies the user", async () => {
    const person = await signedInPerson();
    const passkey = await setUpPasskey(person.actor);
    const attempt = async () => {
      const use = await askForPasskeyToReauthenticate(person.actor, fromElsewhere());
      return reauthenticateWithPasskey(person.actor, { response: passkey.answer(use), session: person.token }, fromElsewhere());
    };
    passkey.isVerifying = false;
    await expect(attempt()).rejects.toMatchObject({ code: "unauthorized" });
    passkey.isVerifying = true;
    const done = await attempt();
    expect(await findSiteSession(done.token)).toMatchObject({ id: person.actor.sessionId, methods: ["pop", "mfa"] });
    expect(await findSiteSession(person.token)).toBeUndefined();
  });

  test("takes the second step alone if the user has no password", async () => {
    const person = await signedInPerson();
    await expect(reauthenticateWithoutPassword(person.actor, from)).rejects.toMatchObject({ code: "conflict" });
    const authenticator = await setUpAuthenticator(person.actor);
    await expect(reauthenticateWithoutPassword(person.actor, from)).rejects.toMatchObject({ code: "conflict" });
    await db().user.update({ where: { id: person.id }, data: { passwordHash: null } });
    const pending = await reauthenticateWithoutPassword(person.actor, from);
    const done = await finish(pending.token, { kind: "code", code: authenticator.code() }, person.token);
    expect((await findSiteSession(done.token))?.methods).toEqual(["otp"]);
  });
});

describe("turning the second step off", () => {
  test("requires confirmation if an organization requires the second step", async () => {
    const [person, admin] = [await signedInPerson(), await signedInPerson("admin")];
    const organization = await organizationOf(admin, [[person, "write"]]);
    await db().organization.update({ where: { id: organization.id }, data: { requiresSecondStep: true } });
    expect(await listSignInRequirements(person.id)).toMatchObject([{ name: organization.name, unmet: ["mfa"] }]);
    await setUpAuthenticator(person.actor);
    await setUpPasskey(person.actor);
    expect(await listSignInRequirements(person.id)).toMatchObject([{ name: organization.name, unmet: [] }]);
    const [{ id } = { id: "" }] = (await findSecondStep(person.id)).passkeys;
    await makeRecoveryCodes(person.actor, from);
    const race = await outcomes([removePasskey(person.actor, id, [], from), removeTotp(person.actor, [], from)]);
    expect(race).toEqual(["conflict", "ok"]);
    expect(await hasSecondStep(person.id)).toBe(true);
    await setUpAuthenticator(person.actor);
    const left = (await findSecondStep(person.id)).passkeys;
    for (const one of left) await removePasskey(person.actor, one.id, [], from);
    await expect(removeTotp(person.actor, [newId()], from)).rejects.toMatchObject({
      message: expect.stringContaining(organization.name),
    });
    expect((await findSecondStep(person.id)).recoveryCodesLeft).toBe(10);
    await removeTotp(person.actor, [organization.id], from);
    expect((await findSecondStep(person.id)).recoveryCodesLeft).toBe(0);
    expect(await listSignInRequirements(person.id)).toMatchObject([{ unmet: ["mfa"] }]);
    expect(await auditTrail({ orgId: organization.id })).toEqual(expect.arrayContaining(["second_step.on", "second_step.off"]));
  });

  test("S144 and on again is possible only a few times in an hour", async () => {
    const person = await signedInPerson();
    const turns = () =>
      db().auditEvent.count({ where: { actorId: person.id, type: { in: ["second_step.on", "second_step.off"] } } });
    for (let done = 0; done < TOGGLES_PER_HOUR; done += 2) {
      await setUpAuthenticator(person.actor);
      await removeTotp(person.actor, [], from);
    }
    await expect(setUpAuthenticator(person.actor)).rejects.toMatchObject({ code: "rate_limited" });
    expect(await hasSecondStep(person.id)).toBe(false);
    expect(await turns()).toBe(TOGGLES_PER_HOUR);
  });

  test("by the operator's reset removes every method and ends no session", async () => {
    const person = await signedInPerson();
    await setUpAuthenticator(person.actor);
    await setUpPasskey(person.actor);
    await makeRecoveryCodes(person.actor, from);
    const pending = await firstStep(person);
    await expect(resetSecondStep(person.actor, person.id, from)).rejects.toMatchObject({ code: "not_found" });
    await resetSecondStep(operatorCommand, person.id, from);
    expect(await findSecondStep(person.id)).toEqual({
      hasPassword: true,
      passkeys: [],
      authenticatorSince: null,
      recoveryCodesLeft: 0,
    });
    await expect(withCode(pending, "000000")).rejects.toMatchObject({ code: "gone" });
    const session = await findSiteSession(person.token);
    expect(session && personActor(session).userId).toBe(person.id);
    expect(await signIn({ login: person.username, password: PASSWORD }, fromElsewhere())).toMatchObject({ step: "done" });
    expect((await emailsTo(person.email))[0]?.subject).toContain("was removed");
    expect(await auditTrail({ subjectId: person.id })).toContain("second_step.reset");
    await expect(resetSecondStep(operatorCommand, newId(), from)).rejects.toMatchObject({ code: "not_found" });
  });
});

test("S56 challenges are limited for all networks of a /48 together", async () => {
  const network = (number: number) => ({ ip: `2001:db8:77:${number.toString(16)}::1`, userAgent: null });
  const ask = (count: number, first: number) =>
    outcomes(Array.from({ length: count }, (_, at) => askForPasskeyToSignIn(network(first + at))));
  expect(await ask(15, 0)).toEqual(Array(15).fill("ok"));
  // Sets only the /48's counter, as if nearly a thousand had been requested.
  expect(await db().throttle.updateMany({ where: { count: 15 }, data: { count: 995 } })).toEqual({ count: 1 });
  expect((await ask(10, 15)).filter((end) => end !== "ok")).toHaveLength(5);
});
