import { beforeEach, describe, expect, test } from "vitest";
import { operatorCommand } from "../access/actor.ts";
import { db } from "../db.ts";
import { provideSettings } from "../env.ts";
import { findSiteSession } from "./sessions/find-site-session.ts";
import { ensureSetupLink, isSetupLink, redeemSetupLink } from "./setup-link.ts";
import { freshName, from, outcomes, PASSWORD } from "./testing/people.ts";
import { createUser } from "./users/create-user.ts";

const input = () => {
  const username = freshName("op");
  return { username, email: `${username}@example.test`, password: PASSWORD };
};
const linkToken = async () => {
  const url = new URL((await ensureSetupLink()) as string);
  expect(url.origin).toBe("http://localhost:3000");
  return url.pathname.replace(/^\/setup\//, "");
};

describe("the setup link", () => {
  beforeEach(() => db().user.deleteMany());

  test("creates an operator, signs them in, and then no longer works", async () => {
    const token = await linkToken();
    expect(await isSetupLink(token)).toBe(true);
    const { userId, token: session } = await redeemSetupLink(token, input(), from);
    expect(await findSiteSession(session)).toMatchObject({
      userId,
      user: { isOperator: true, emailVerifiedAt: expect.any(Date) },
    });
    expect(await ensureSetupLink()).toBeUndefined();
    expect(await isSetupLink(token)).toBe(false);
    await expect(redeemSetupLink(token, input(), from)).rejects.toMatchObject({ code: "gone" });
  });

  test("is the same for all processes that start, even at the same time", async () => {
    const first = await Promise.all([linkToken(), linkToken(), linkToken()]);
    expect(new Set([...first, await linkToken()]).size).toBe(1);
    expect(await isSetupLink(first[0])).toBe(true);
    const [row] = await db().oneTimeToken.findMany({ where: { purpose: "operator-setup" } });
    expect(JSON.stringify(row)).not.toContain(first[0]);
  });

  test("is replaced if it ends soon or the SECRET_KEY has changed", async () => {
    const old = await linkToken();
    await db().oneTimeToken.updateMany({ data: { expiresAt: new Date(Date.now() + 60_000) } });
    const fresh = await linkToken();
    expect(await isSetupLink(old)).toBe(false);
    await expect(redeemSetupLink(old, input(), from)).rejects.toMatchObject({ code: "gone" });
    expect(await isSetupLink(fresh)).toBe(true);
    provideSettings({ SECRET_KEY: "another secret key ".repeat(3) });
    expect(await linkToken()).not.toBe(fresh);
  });

  test("creates exactly one operator when it is used several times in parallel", async () => {
    const token = await linkToken();
    const uses = Array.from({ length: 6 }, () => redeemSetupLink(token, input(), from));
    expect(await outcomes(uses)).toEqual([...Array(5).fill("gone"), "ok"]);
    expect(await db().user.count({ where: { isOperator: true } })).toBe(1);
  });

  test("still works after invalid input", async () => {
    const token = await linkToken();
    const { username } = await createUser(operatorCommand, input(), from);
    await expect(redeemSetupLink(token, { ...input(), username }, from)).rejects.toMatchObject({
      code: "conflict",
      field: "username",
    });
    await expect(redeemSetupLink(token, { ...input(), password: "short" }, from)).rejects.toMatchObject({ field: "password" });
    await expect(redeemSetupLink(token, input(), from)).resolves.toBeDefined();
  });

  test("ends when the command creates an operator", async () => {
    const token = await linkToken();
    await createUser(operatorCommand, { ...input(), isOperator: true }, from);
    expect(await isSetupLink(token)).toBe(false);
    await expect(redeemSetupLink(token, input(), from)).rejects.toMatchObject({ code: "gone" });
  });
});
