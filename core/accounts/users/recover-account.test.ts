import { describe, expect, test, vi } from "vitest";
import { operatorCommand, type Person } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { queueForLock } from "../../testing/as-owner.ts";
import { endSiteSession, signOut, signOutElsewhere } from "../sessions/end-site-session.ts";
import { findSiteSession } from "../sessions/find-site-session.ts";
import {
  anotherSession,
  auditTrail,
  emailsTo,
  fillAuditHour,
  freshName,
  from,
  fromElsewhere,
  linkedToken,
  outcomes,
  PASSWORD,
  signedInPerson,
  staleActor,
} from "../testing/people.ts";
import { changeEmail } from "./change-email.ts";
import { changePassword, forgotPassword, resetPassword } from "./change-password.ts";
import { disableUser } from "./disable-user.ts";
import { signIn } from "./sign-in.ts";
import { updateProfile } from "./update-profile.ts";
import { verifyEmail } from "./verify-email.ts";

const NEW_PASSWORD = "another lantern, further on";
const freshAddress = () => `${freshName("new")}@example.test`;

describe("forgotPassword and resetPassword", () => {
  test("S112 the link sets a new password and ends every session", async () => {
    const { id, username, email, token } = await signedInPerson();
    const { token: second } = await anotherSession(id);
    await forgotPassword({ email: email.toUpperCase() }, fromElsewhere());
    await resetPassword(await linkedToken(email, "reset-password"), { password: NEW_PASSWORD }, fromElsewhere());
    for (const ended of [token, second]) expect(await findSiteSession(ended)).toBeUndefined();
    await expect(signIn({ login: username, password: PASSWORD }, fromElsewhere())).rejects.toMatchObject({
      code: "unauthorized",
    });
    await expect(signIn({ login: username, password: NEW_PASSWORD }, fromElsewhere())).resolves.toBeDefined();
    expect((await emailsTo(email))[0]?.subject).toBe("Your Keyhook password was changed");
    await vi.waitFor(async () => expect(await auditTrail({ subjectId: id })).toContain("user.sign_in_failed"));
    expect((await auditTrail({ subjectId: id })).filter((type) => type !== "user.sign_in_failed")).toEqual([
      "user.create",
      "user.forgot_password",
      "user.reset_password",
      "user.sign_in",
    ]);
  });

  test("S144 an attacker with a stolen session cannot prevent its owner from ending it", async () => {
    const { id, username, email, actor, token } = await signedInPerson();
    const thief = await anotherSession(id);
    await updateProfile(staleActor(thief.actor), id, { fullName: "x" }, fromElsewhere());
    await fillAuditHour(id);
    const edit = (fullName: string) => updateProfile(staleActor(thief.actor), id, { fullName }, fromElsewhere());
    await expect(edit("y")).rejects.toMatchObject({ code: "rate_limited" });
    await edit("x");

    await signIn({ login: username, password: PASSWORD }, fromElsewhere());
    await endSiteSession(id, thief.actor.sessionId, fromElsewhere());
    await signOutElsewhere(id, actor.sessionId, fromElsewhere());
    await changePassword(actor, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }, fromElsewhere());
    await signOut(token, fromElsewhere());
    await forgotPassword({ email }, fromElsewhere());
    await resetPassword(await linkedToken(email, "reset-password"), { password: PASSWORD }, fromElsewhere());
    expect(await db().siteSession.count({ where: { userId: id, endedAt: null } })).toBe(0);
  });

  test("only one of parallel uses of a link sets the password", async () => {
    const { email, username } = await signedInPerson();
    await forgotPassword({ email }, fromElsewhere());
    const token = await linkedToken(email, "reset-password");
    const passwords = Array.from({ length: 6 }, (_, i) => `${NEW_PASSWORD} ${i}`);
    const ends = await outcomes(passwords.map((password) => resetPassword(token, { password }, fromElsewhere())));
    expect(ends).toEqual([...Array(5).fill("gone"), "ok"]);
    const works = await Promise.allSettled(passwords.map((password) => signIn({ login: username, password }, fromElsewhere())));
    expect(works.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("the link still works after a refused password", async () => {
    const { email, username } = await signedInPerson();
    await forgotPassword({ email }, fromElsewhere());
    const token = await linkedToken(email, "reset-password");
    for (const password of ["short", "password123", username]) {
      await expect(resetPassword(token, { password }, fromElsewhere())).rejects.toMatchObject({
        code: "invalid_request",
        field: "password",
      });
    }
    await resetPassword(token, { password: NEW_PASSWORD }, fromElsewhere());
  });

  test("expired, replaced and invalid links, and links of another kind, get the same response", async () => {
    const { email, actor } = await signedInPerson();
    await forgotPassword({ email }, fromElsewhere());
    const replaced = await linkedToken(email, "reset-password");
    await forgotPassword({ email }, fromElsewhere());
    const expired = await linkedToken(email, "reset-password");
    await db().oneTimeToken.updateMany({ where: { userId: actor.userId }, data: { expiresAt: new Date(Date.now() - 1000) } });
    const address = freshAddress();
    await changeEmail(actor, { email: address }, fromElsewhere());
    const otherKind = await linkedToken(address, "verify-email");
    for (const token of [replaced, expired, otherKind, "nonsense", "\0", ""]) {
      await expect(resetPassword(token, { password: NEW_PASSWORD }, fromElsewhere())).rejects.toMatchObject({ code: "gone" });
    }
  });

  test("S115 an address without an account gets the same response after the same minimum time, and no email", async () => {
    const email = freshAddress();
    const start = performance.now();
    await expect(forgotPassword({ email }, fromElsewhere())).resolves.toBeUndefined();
    expect(performance.now() - start).toBeGreaterThan(295);
    expect(await emailsTo(email)).toEqual([]);
  });

  test("S115 the fourth request for one address within the hour is refused, whether or not the address has an account", async () => {
    const { email } = await signedInPerson();
    for (const address of [email, freshAddress()]) {
      for (let i = 0; i < 3; i++) await forgotPassword({ email: address }, fromElsewhere());
      await expect(forgotPassword({ email: address }, fromElsewhere())).rejects.toMatchObject({ code: "rate_limited" });
    }
  });

  test("too many wrong passwords do not lock out an owner who can read their mail", async () => {
    const { email, username } = await signedInPerson();
    for (let i = 0; i < 11; i++)
      await signIn({ login: username, password: "some other words" }, fromElsewhere()).catch(() => undefined);
    await forgotPassword({ email }, fromElsewhere());
    await resetPassword(await linkedToken(email, "reset-password"), { password: NEW_PASSWORD }, fromElsewhere());
    await expect(signIn({ login: username, password: NEW_PASSWORD }, fromElsewhere())).resolves.toBeDefined();
  });

  test("S112 a disabled user gets no link, and an earlier link no longer works", async () => {
    const { id, email } = await signedInPerson();
    await forgotPassword({ email }, fromElsewhere());
    const token = await linkedToken(email, "reset-password");
    await disableUser(operatorCommand, id, from);
    await expect(resetPassword(token, { password: NEW_PASSWORD }, fromElsewhere())).rejects.toMatchObject({ code: "gone" });
    const before = (await emailsTo(email)).length;
    await forgotPassword({ email }, fromElsewhere());
    expect(await emailsTo(email)).toHaveLength(before);
  });
});

describe("changePassword", () => {
  test("S112 requires the current password, ends the other sessions and stops links in the mailbox", async () => {
    const { id, username, email, token, actor } = await signedInPerson();
    const { token: other } = await anotherSession(id);
    await forgotPassword({ email }, fromElsewhere());
    const waiting = await linkedToken(email, "reset-password");
    await expect(
      changePassword(actor, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }, fromElsewhere()),
    ).resolves.toEqual({ endedSessions: 1 });
    expect(await findSiteSession(token)).toBeDefined();
    expect(await findSiteSession(other)).toBeUndefined();
    await expect(resetPassword(waiting, { password: "yet another lantern" }, fromElsewhere())).rejects.toMatchObject({
      code: "gone",
    });
    await expect(signIn({ login: username, password: NEW_PASSWORD }, fromElsewhere())).resolves.toBeDefined();
    expect((await emailsTo(email))[0]?.subject).toBe("Your Keyhook password was changed");
  });

  test("S112 does not undo a reset that ends while the change runs with the old password", async () => {
    const { id, username, email, actor } = await signedInPerson();
    await forgotPassword({ email }, fromElsewhere());
    const token = await linkedToken(email, "reset-password");
    const change = { currentPassword: PASSWORD, newPassword: "what a thief would choose" };
    const [reset, changed] = await queueForLock<unknown>(`SELECT FROM "user" WHERE id = '${id}' FOR UPDATE`, [
      () => resetPassword(token, { password: NEW_PASSWORD }, fromElsewhere()),
      () => changePassword(actor, change, fromElsewhere()),
    ]);
    await reset;
    await expect(changed).rejects.toMatchObject({ code: "unauthorized" });
    await expect(signIn({ login: username, password: NEW_PASSWORD }, fromElsewhere())).resolves.toBeDefined();
  });

  test("S113 a wrong current password is counted, and the error names the field", async () => {
    const { actor } = await signedInPerson();
    const change = (currentPassword: string) =>
      changePassword(actor, { currentPassword, newPassword: NEW_PASSWORD }, fromElsewhere());
    for (let i = 0; i < 10; i++) {
      await expect(change("some other words")).rejects.toMatchObject({ code: "unauthorized", field: "currentPassword" });
    }
    await expect(change(PASSWORD)).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("the new password must differ from the current one and be hard to guess", async () => {
    const { actor, username } = await signedInPerson();
    for (const newPassword of [PASSWORD, "12345678", username, "x".repeat(257)]) {
      await expect(changePassword(actor, { currentPassword: PASSWORD, newPassword }, fromElsewhere())).rejects.toMatchObject({
        code: "invalid_request",
        field: "newPassword",
      });
    }
  });
});

describe("changeEmail", () => {
  test("a link in the new mailbox confirms the new address, and the old address is notified before and after", async () => {
    const { id, email, actor } = await signedInPerson();
    const address = freshAddress();
    await changeEmail(actor, { email: address }, fromElsewhere());
    expect((await db().user.findUniqueOrThrow({ where: { id } })).email).toBe(email);
    expect((await emailsTo(email))[0]?.text).toContain(address);

    expect(await verifyEmail(await linkedToken(address, "verify-email"), fromElsewhere(), { actor })).toEqual({
      purpose: "change-email",
      userId: id,
    });
    expect(await db().user.findUniqueOrThrow({ where: { id } })).toMatchObject({ email: address, emailCanonical: address });
    expect((await emailsTo(email))[0]?.subject).toBe("Your Keyhook e-mail address was changed");
    expect((await auditTrail({ subjectId: id })).slice(-2)).toEqual(["user.request_email_change", "user.change_email"]);
  });

  test("S142 the link in another mailbox confirms the change only for a user who is signed in to the account", async () => {
    const [attacker, victim] = [await signedInPerson(), await signedInPerson()];
    const address = freshAddress();
    await changeEmail(attacker.actor, { email: address }, fromElsewhere());
    const token = await linkedToken(address, "verify-email");
    for (const actor of [undefined, victim.actor]) await verifyEmail(token, fromElsewhere(), { actor }).catch(() => undefined);
    expect(await db().user.findUnique({ where: { emailCanonical: address } })).toBeNull();
  });

  test("S113 needs recent authentication", async () => {
    const { actor } = await signedInPerson();
    await expect(changeEmail(staleActor(actor), { email: freshAddress() }, fromElsewhere())).rejects.toMatchObject({
      code: "reauthentication_required",
    });
  });

  test("S115 an address with an account gets the same response, and only the account's owner is notified", async () => {
    const { actor } = await signedInPerson();
    const other = await signedInPerson();
    await expect(changeEmail(actor, { email: other.email }, fromElsewhere())).resolves.toEqual({ email: other.email });
    const [message] = await emailsTo(other.email);
    expect(message?.text).not.toContain("verify-email");
  });

  test("S115 many accounts together cannot fill one mailbox, whether or not it has an account", async () => {
    for (const address of [freshAddress(), (await signedInPerson()).email]) {
      for (let count = 0; count < 5; count++)
        await changeEmail((await signedInPerson()).actor, { email: address }, fromElsewhere());
      const { actor } = await signedInPerson();
      await expect(changeEmail(actor, { email: address }, fromElsewhere())).rejects.toMatchObject({ code: "rate_limited" });
      expect(await emailsTo(address)).toHaveLength(5);
    }
  });

  test("a reset link in the former mailbox stops working after the change", async () => {
    const { email, actor } = await signedInPerson();
    await forgotPassword({ email }, fromElsewhere());
    const old = await linkedToken(email, "reset-password");
    const address = freshAddress();
    await changeEmail(actor, { email: address }, fromElsewhere());
    await verifyEmail(await linkedToken(address, "verify-email"), fromElsewhere(), { actor });
    await expect(resetPassword(old, { password: NEW_PASSWORD }, fromElsewhere())).rejects.toMatchObject({ code: "gone" });
  });

  test("a reset link that is requested during the change does not go to the former mailbox", async () => {
    const { id, email, actor } = await signedInPerson();
    const address = freshAddress();
    await changeEmail(actor, { email: address }, fromElsewhere());
    const token = await linkedToken(address, "verify-email");
    await forgotPassword({ email }, fromElsewhere());
    const links = `SELECT FROM one_time_token WHERE user_id = '${id}' AND purpose = 'reset-password' FOR UPDATE`;
    const ends = await queueForLock<unknown>(links, [
      () => verifyEmail(token, fromElsewhere(), { actor }),
      () => forgotPassword({ email }, fromElsewhere()),
    ]);
    await Promise.all(ends);
    expect(await db().oneTimeToken.count({ where: { userId: id, purpose: "reset-password" } })).toBe(0);
    expect((await emailsTo(email))[0]?.subject).toBe("Your Keyhook e-mail address was changed");
  });

  test("choosing a new password stops a change that somebody else requested", async () => {
    const { email, actor } = await signedInPerson();
    const address = freshAddress();
    await changeEmail(actor, { email: address }, fromElsewhere());
    await forgotPassword({ email }, fromElsewhere());
    await resetPassword(await linkedToken(email, "reset-password"), { password: NEW_PASSWORD }, fromElsewhere());
    await expect(verifyEmail(await linkedToken(address, "verify-email"), fromElsewhere(), { actor })).rejects.toMatchObject({
      code: "gone",
    });
  });

  test("only one of two accounts that confirm an address at the same time gets the address", async () => {
    const people = [await signedInPerson(), await signedInPerson()];
    const address = freshAddress();
    const links: { actor: Person; token: string }[] = [];
    for (const { actor } of people) {
      await changeEmail(actor, { email: address }, fromElsewhere());
      links.push({ actor, token: await linkedToken(address, "verify-email") });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(await outcomes(links.map(({ actor, token }) => verifyEmail(token, fromElsewhere(), { actor })))).toEqual([
      "conflict",
      "ok",
    ]);
    expect(await db().user.count({ where: { emailCanonical: address } })).toBe(1);
  });
});
