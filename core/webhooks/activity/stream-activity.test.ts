import { beforeAll, expect, it, vi } from "vitest";
import { organizationOf, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { db, pool } from "../../db.ts";
import { queueDeliveries, webhookTo } from "../testing/deliveries.ts";
import { ACTIVITY_CHANNEL } from "../vocabulary.ts";
import { followActivity } from "./follow-activity.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { STREAMS_MAX_PER_PERSON, streamActivity } from "./stream-activity.ts";

// Machines that run tests may be slow.
const SOON = { timeout: 15_000 };

let ada: TestPerson;
beforeAll(async () => {
  ada = await signedInPerson("ada");
});

const URL_OF_HOOK = "http://127.0.0.1:9/";
const announce = (webhookId: string) => pool().query("select pg_notify($1, $2)", [ACTIVITY_CHANNEL, webhookId]);

it("S135 a live view ends as soon as the webhook may not be read any more, with beats of a heart until then", async () => {
  const grace = await signedInPerson("grace");
  const organization = await organizationOf(ada, [[grace, "admin"]]);
  const webhookId = await webhookTo({ url: URL_OF_HOOK, ownerId: organization.id, ownerKind: "organization" });
  const signal = new AbortController().signal;
  const stream = await streamActivity({ actorNow: async () => grace.actor, webhookId, signal, heartbeatMs: 40 });
  let text = "";
  let isOver = false;
  const reading = (async () => {
    for await (const piece of stream) text += Buffer.from(piece).toString();
    isOver = true;
  })();
  await vi.waitFor(() => expect(text).toMatch(/^retry: \d+\n\n(:\n\n){2}/), SOON);
  await db().membership.deleteMany({ where: { userId: grace.id } });
  await queueDeliveries(webhookId);
  await announce(webhookId);
  await reading;
  expect(isOver).toBe(true);
  expect(text).not.toContain("event: delivery");
  await expect(streamActivity({ actorNow: async () => grace.actor, webhookId, signal })).rejects.toMatchObject({
    code: "not_found",
  });
});

it("a view of which nothing is read, since its client has gone by then, takes nobody's place", async () => {
  const webhookId = await webhookTo({ url: URL_OF_HOOK, ownerId: ada.id });
  const open = (signal: AbortSignal) => streamActivity({ actorNow: async () => ada.actor, webhookId, signal });
  for (let each = 0; each < STREAMS_MAX_PER_PERSON; each++) await open(AbortSignal.abort());
  const still = new AbortController();
  await expect(open(still.signal)).resolves.toBeInstanceOf(ReadableStream);
  still.abort();
});

it("whoever follows is told of what changes, of late retries too; one who is slow keeps the latest of each and no more", async () => {
  const webhookId = await webhookTo({ url: URL_OF_HOOK, ownerId: ada.id });
  const [old = ""] = await queueDeliveries(webhookId, { dueIn: 60 });
  await pool().query("update delivery_queue set kind = 'retry', tries = 3 where id = $1", [old]);
  // By now it is far down the list.
  await queueDeliveries(webhookId, { count: 120, dueIn: 3_600 });
  const { tail } = await listDeliveries(ada.actor, webhookId);
  const leave = new AbortController();
  const news = followActivity(webhookId, { signal: leave.signal, heartbeatMs: 60_000 });
  const next = async () => {
    const { value } = await news.next();
    if (!value || value === "heartbeat") throw new Error("nothing happened");
    return value;
  };
  const first = next();
  await vi.waitFor(async () => {
    await pool().query("update delivery set attempts = attempts + 1, last_status = 503 where id = $1", [old]);
    await announce(webhookId);
    await Promise.race([first, new Promise((_, reject) => setTimeout(() => reject(new Error("not yet")), 200))]);
  }, SOON);
  expect((await first).deliveries).toMatchObject([{ id: old, lastStatus: 503 }]);

  // Nobody takes these; of several changes of one delivery the last is kept.
  for (const state of ["failed", "delivered"]) {
    await pool().query("update delivery set state = $2, finished_at = now() where id = $1", [old, state]);
    await announce(webhookId);
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
  expect((await next()).deliveries.map(({ id, state }) => [id, state])).toEqual([[old, "delivered"]]);
  leave.abort();
  expect(await news.next()).toMatchObject({ done: true });

  // A follower continues where the shown page ends; an invalid time is ignored.
  const [late = ""] = await queueDeliveries(webhookId, { dueIn: 3_600 });
  const again = followActivity(webhookId, { after: tail, signal: AbortSignal.timeout(5_000), heartbeatMs: 60_000 });
  const { value } = await again.next();
  expect(value).toMatchObject({ isReset: true });
  await again.return();
  const since = followActivity(webhookId, { after: String(Date.now() + 9_900), signal: AbortSignal.timeout(5_000) });
  expect((await since.next()).value).toMatchObject({
    deliveries: expect.arrayContaining([expect.objectContaining({ id: late })]),
  });
  await since.return();
  const none = followActivity(webhookId, { after: "x'", signal: AbortSignal.timeout(5_000), heartbeatMs: 10 });
  expect((await none.next()).value).toBe("heartbeat");
  await none.return();
});
