import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { db } from "#core/db.ts";
import { Prisma } from "#core/generated/prisma/client.ts";
import { newId } from "#core/ids.ts";
import { stopListening } from "#core/notifications.ts";
import { startSessionEnds } from "./upkeep.ts";

afterAll(stopListening);

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

const engineSessions = (userId: string) =>
  db().oAuthArtifact.count({
    where: { model: "Session", accountId: userId, payload: { path: ["authorizations"], not: Prisma.AnyNull } },
  });
const untilOver = (userId: string) => vi.waitFor(async () => expect(await engineSessions(userId)).toBe(0));

test("the engine's sessions end with their site sessions", async () => {
  const [before, expired, another] = [await signedIn(), await signedIn(new Date(Date.now() - 1_000)), await signedIn()];
  const end = (userId: string) => db().siteSession.updateMany({ where: { userId }, data: { endedAt: new Date() } });
  await end(before);
  const loop = await startSessionEnds();
  onTestFinished(() => loop.stop());
  await untilOver(before);
  await untilOver(expired);
  // If the loop only polled, ending five sessions would take at least 20 seconds.
  const people = await Promise.all(Array.from({ length: 5 }, () => signedIn()));
  const startedAt = performance.now();
  for (const person of people) {
    await end(person);
    await untilOver(person);
  }
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  expect(await engineSessions(another)).toBe(1);
});
