import { describe, expect, test } from "vitest";
import { db } from "../../db.ts";
import { findOneTimeToken } from "../one-time-token.ts";
import {
  auditTrail,
  emailsTo,
  freshName,
  fromElsewhere,
  linkedToken,
  outcomes,
  PASSWORD,
  signedInPerson,
} from "../testing/people.ts";
import { signIn } from "./sign-in.ts";
import { resendSignUpMail, signUp } from "./sign-up.ts";
import { verifyEmail } from "./verify-email.ts";

function someone(stem = "grace") {
  const username = freshName(stem);
  return { username, email: `${username}@example.test`, password: PASSWORD };
}

describe("signUp", () => {
  test("the link creates the account once, with the password that was chosen at sign-up", async () => {
    const input = { ...someone(), fullName: "Grace Hopper", returnTo: "/interaction/abc?x=1" };
    await signUp(input, fromElsewhere());
    expect(await db().handle.findUnique({ where: { handle: input.username } })).toBeNull();

    const token = await linkedToken(input.email, "verify-email");
    const verified = await verifyEmail(token, fromElsewhere(), { password: PASSWORD });
    expect(verified).toMatchObject({ purpose: "sign-up", outcome: { step: "done" }, returnTo: "/interaction/abc?x=1" });
    const user = await db().user.findUniqueOrThrow({ where: { id: verified.userId } });
    expect(user).toMatchObject({ username: input.username, fullName: "Grace Hopper", email: input.email, isOperator: false });
    expect(user.emailVerifiedAt).not.toBeNull();
    expect((await signIn({ login: input.username, password: PASSWORD }, fromElsewhere())).userId).toBe(verified.userId);
    await expect(verifyEmail(token, fromElsewhere(), { password: PASSWORD })).rejects.toMatchObject({ code: "gone" });
    expect(await auditTrail({ subjectId: verified.userId })).toEqual(["user.create", "user.sign_in", "user.sign_in"]);
  });

  test("S115 an address with an account gets the same response, and its owner is notified", async () => {
    const owner = await signedInPerson();
    const free = someone();
    const taken = { ...someone(), email: owner.email.toUpperCase() };
    const answers = [await signUp(free, fromElsewhere()), await signUp(taken, fromElsewhere())];
    expect(answers).toEqual([{ email: free.email }, { email: taken.email.replace(/@.*/, (domain) => domain.toLowerCase()) }]);

    for (const input of [free, taken]) {
      await expect(signIn({ login: input.username, password: PASSWORD }, fromElsewhere())).rejects.toMatchObject({
        code: "unauthorized",
        message: "Incorrect username or password.",
      });
      await expect(signUp({ ...someone(), username: input.username }, fromElsewhere())).resolves.toBeDefined();
    }
    const [message] = await emailsTo(owner.email);
    expect(message?.subject).toBe("You already have a Keyhook account");
    expect(message?.text).not.toContain("verify-email");
  });

  test("S115 takes the same minimum time for an unknown address as for a known one", async () => {
    const owner = await signedInPerson();
    const times: number[] = [];
    for (const email of [owner.email, someone().email]) {
      const start = performance.now();
      await signUp({ ...someone(), email }, fromElsewhere());
      times.push(performance.now() - start);
    }
    for (const time of times) expect(time).toBeGreaterThan(295);
  });

  test("S142 a user who signs up with somebody else's address gets no account with that address", async () => {
    const victim = someone("victim");
    const attacker = { ...someone("attacker"), email: victim.email, password: "chosen by somebody else" };
    await signUp(attacker, fromElsewhere());
    const token = await linkedToken(victim.email, "verify-email");
    await verifyEmail(token, fromElsewhere(), { password: victim.password }).catch(() => undefined);
    await expect(signIn({ login: victim.email, password: attacker.password }, fromElsewhere())).rejects.toMatchObject({
      code: "unauthorized",
    });
    expect(await db().user.findUnique({ where: { emailCanonical: victim.email } })).toBeNull();
  });

  test("two people who request one username both get a link, and the second chooses another username", async () => {
    const first = someone();
    const second = { ...someone(), username: first.username.toUpperCase() };
    await signUp(first, fromElsewhere());
    await signUp(second, fromElsewhere());
    const tokens = [await linkedToken(first.email, "verify-email"), await linkedToken(second.email, "verify-email")];
    expect(await outcomes(tokens.map((token) => verifyEmail(token, fromElsewhere(), { password: PASSWORD })))).toEqual([
      "conflict",
      "ok",
    ]);
    const isFirstLeft = (await findOneTimeToken(tokens[0] as string, "sign-up")) !== undefined;
    const left = tokens[isFirstLeft ? 0 : 1] as string;
    const username = freshName("other");
    const { userId } = await verifyEmail(left, fromElsewhere(), { password: PASSWORD, username });
    expect(await db().user.findUnique({ where: { id: userId } })).toMatchObject({ username });
  });

  test("only one of parallel uses of a link creates an account", async () => {
    const input = someone();
    await signUp(input, fromElsewhere());
    const token = await linkedToken(input.email, "verify-email");
    const uses = Array.from({ length: 8 }, () => verifyEmail(token, fromElsewhere(), { password: PASSWORD }));
    expect(await outcomes(uses)).toEqual([...Array(7).fill("gone"), "ok"].sort());
    expect(await db().user.count({ where: { emailCanonical: input.email } })).toBe(1);
  });

  test("S142 a later sign-up with the same address does not invalidate the earlier link", async () => {
    const input = someone();
    await signUp(input, fromElsewhere());
    const own = await linkedToken(input.email, "verify-email");
    await signUp({ ...someone(), email: input.email, password: "chosen by somebody else" }, fromElsewhere());
    await resendSignUpMail(input, fromElsewhere());
    const later = await linkedToken(input.email, "verify-email");
    const { userId } = await verifyEmail(own, fromElsewhere(), { password: PASSWORD });
    expect(await db().user.findUnique({ where: { id: userId } })).toMatchObject({ username: input.username });
    expect(await findOneTimeToken(later, "sign-up")).toBeUndefined();
  });

  test("a username that is taken is refused in any spelling, and the error names the field", async () => {
    const { username } = await signedInPerson();
    await expect(signUp({ ...someone(), username: username.toUpperCase() }, fromElsewhere())).rejects.toMatchObject({
      code: "conflict",
      field: "username",
    });
  });

  test("the page to continue to is never on another site", async () => {
    const input = { ...someone(), returnTo: "//evil.example" };
    await signUp(input, fromElsewhere());
    expect(
      await verifyEmail(await linkedToken(input.email, "verify-email"), fromElsewhere(), { password: PASSWORD }),
    ).toMatchObject({ returnTo: null });
  });

  test("S56 an address gets five emails an hour, then the response says how long to wait", async () => {
    const { email } = someone();
    const ask = () => signUp({ ...someone(), email }, fromElsewhere());
    for (let i = 0; i < 5; i++) await ask();
    await expect(ask()).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: expect.any(Number) });
  });

  test.each([
    ["username", { username: "a\0b" }],
    ["email", { email: "a\0b@example.test" }],
    ["password", { password: "long enough \0" }],
    ["fullName", { fullName: "Ada \u{fffd}" }],
    ["fullName", { fullName: "Ada \ud800" }],
  ])("S51 a %s that is not text is refused with an error that names the field", async (field, bad) => {
    await expect(signUp({ ...someone(), ...bad }, fromElsewhere())).rejects.toMatchObject({ code: "invalid_request", field });
  });
});

describe("resendSignUpMail", () => {
  test("sends a new link that replaces the old link", async () => {
    const input = someone();
    await signUp(input, fromElsewhere());
    const old = await linkedToken(input.email, "verify-email");
    await resendSignUpMail({ email: input.email.toUpperCase() }, fromElsewhere());
    const fresh = await linkedToken(input.email, "verify-email");
    expect(fresh).not.toBe(old);
    await expect(verifyEmail(old, fromElsewhere(), { password: PASSWORD })).rejects.toMatchObject({ code: "gone" });
    expect(await verifyEmail(fresh, fromElsewhere(), { password: PASSWORD })).toMatchObject({ purpose: "sign-up" });
  });

  test("S115 responds the same for an address that never signed up, and sends nothing", async () => {
    const { email } = someone();
    await expect(resendSignUpMail({ email }, fromElsewhere())).resolves.toBeUndefined();
    expect(await emailsTo(email)).toEqual([]);
  });
});
