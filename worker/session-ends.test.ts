import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { db } from "#core/db.ts";
import { Prisma } from "#core/generated/prisma/client.ts";
import { newId } from "#core/ids.ts";
import { stopListening } from "#core/notifications.ts";
import { startSessionEnds } from "./session-ends.ts";

afterAll(stopListening);

/** A user with a site session, and the engine's session under it. */
async function signedIn(expiresAt = new Date(Date.now() + 60_000)): Promise<string> {
  const userId = newId();
  const name = `u-${userId}`;
  const email = `${name}@example.test`;
  await db().user.create({ data: { id: userId, username: name, fullName: name, email, emailCanonical: email } });
  const siteSessionId = newId();
  await db().siteSession.create({ data: { id: siteSessionId, tokenHash: newId(), userId, expiresAt } });
  const payload = { siteSessionId, authorizations: { "some-app": { sid: newId() } } };
  await db().oAuthArtifact.create({ data: { model: "Session", idHash: newId(), accountId: userId, payload } });
  return userId;
}

/** Those that still have an app. */
const engineSessions = (userId: string) =>
  db().oAuthArtifact.count({
    where: { model: "Session", accountId: userId, payload: { path: ["authorizations"], not: Prisma.AnyNull } },
  });
const isOver = (userId: string, timeout: number) =>
  vi.waitFor(async () => expect(await engineSessions(userId)).toBe(0), { timeout, interval: 20 });

test("the engine's sessions end with the site session: what ended before, what expired, and at once what ends now", async () => {
  const [before, expired, now, another] = [
    await signedIn(),
    await signedIn(new Date(Date.now() - 1_000)),
    await signedIn(),
    await signedIn(),
  ];
  const end = (userId: string) => db().siteSession.updateMany({ where: { userId }, data: { endedAt: new Date() } });
  await end(before);
  const loop = await startSessionEnds();
  onTestFinished(() => loop.stop());
  await isOver(before, 3_000);
  await isOver(expired, 3_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await end(now);
  // By the announcement, not by the poll every five seconds.
  await isOver(now, 2_500);
  expect(await engineSessions(another)).toBe(1);
});
