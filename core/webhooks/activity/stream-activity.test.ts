import { beforeAll, expect, it, vi } from "vitest";
import { organizationOf, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { db, pool } from "../../db.ts";
import { queueDeliveries, webhookTo } from "../testing/deliveries.ts";
import { ACTIVITY_CHANNEL } from "../vocabulary.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { followActivity, STREAMS_MAX_PER_PERSON, streamActivity } from "./stream-activity.ts";

const SOON = { timeout: 15_000 };

let ada: TestPerson;
beforeAll(async () => {
  ada = await signedInPerson("ada");
});

const URL_OF_HOOK = "http://127.0.0.1:9/";
const announce = (webhookId: string) => pool().query("select pg_notify($1, $2)", [ACTIVITY_CHANNEL, webhookId]);

it("S135 a live view ends as soon as the webhook may no longer be read, and sends pings until then", async () => {
  const grace = await signedInPerson("grace");
  const organization = await organizationOf(ada, [[grace, "admin"]]);
  const webhookId = await webhookTo({ url: URL_OF_HOOK, ownerId: organization.id, ownerKind: "organization" });
  const signal = new AbortController().signal;
  const stream = await streamActivity({ actorNow: async () => grace.actor, webhookId, signal, pingMs: 40 });
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

it("a view whose client has left before anything is read takes no slot", async () => {
  const webhookId = await webhookTo({ url: URL_OF_HOOK, ownerId: ada.id });
  const open = (signal: AbortSignal) => streamActivity({ actorNow: async () => ada.actor, webhookId, signal });
  for (let each = 0; each < STREAMS_MAX_PER_PERSON; each++) await open(AbortSignal.abort());
  const still = new AbortController();
  await expect(open(still.signal)).resolves.toBeInstanceOf(ReadableStream);
  still.abort();
});

it("followers get all changes, and a slow follower keeps only the latest state of each delivery", async ({ signal }) => {
  const webhookId = await webhookTo({ url: URL_OF_HOOK, ownerId: ada.id });
  const [old = ""] = await queueDeliveries(webhookId, { dueIn: 60 });
  await pool().query("update delivery_queue set kind = 'retry', tries = 3 where id = $1", [old]);
  await queueDeliveries(webhookId, { count: 120, dueIn: 3_600 });
  const { tail } = await listDeliveries(ada.actor, webhookId);
  const leave = new AbortController();
  const follow = () => followActivity(webhookId, { signal: AbortSignal.any([leave.signal, signal]), pingMs: 60_000 });
  const [slow, quick] = [follow(), follow()];
  const first = nextOf(slow);
  const firstOfQuick = nextOf(quick);
  // A follower reports only changes after its first reading, so the change is repeated.
  await vi.waitFor(async () => {
    await pool().query("update delivery set attempts = attempts + 1, last_status = 503 where id = $1", [old]);
    await announce(webhookId);
    const told = Promise.all([first, firstOfQuick]);
    await Promise.race([told, new Promise((_, reject) => setTimeout(() => reject(new Error("not yet")), 200))]);
  }, SOON);
  expect((await first).deliveries).toMatchObject([{ id: old, lastStatus: 503 }]);

  for (const state of ["failed", "delivered"]) {
    await pool().query("update delivery set state = $2, finished_at = now() where id = $1", [old, state]);
    await announce(webhookId);
    while ((await nextOf(quick)).deliveries[0]?.state !== state);
  }
  expect((await nextOf(slow)).deliveries.map(({ id, state }) => [id, state])).toEqual([[old, "delivered"]]);
  leave.abort();
  expect(await slow.next()).toMatchObject({ done: true });
  expect(await quick.next()).toMatchObject({ done: true });

  const beforeLate = Date.now();
  const [late = ""] = await queueDeliveries(webhookId, { dueIn: 3_600 });
  const again = followActivity(webhookId, { after: tail, signal, pingMs: 60_000 });
  expect(await nextOf(again)).toMatchObject({ isReset: true });
  await again.return();
  // A time is read as ten seconds earlier, for deliveries that commit late.
  const since = followActivity(webhookId, { after: String(beforeLate + 10_000), signal });
  expect((await nextOf(since)).deliveries).toEqual([expect.objectContaining({ id: late })]);
  await since.return();
  const none = followActivity(webhookId, { after: "x'", signal, pingMs: 10 });
  expect((await none.next()).value).toBe("ping");
  await none.return();
});

async function nextOf(news: ReturnType<typeof followActivity>) {
  const { value } = await news.next();
  if (!value || value === "ping") throw new Error("nothing happened");
  return value;
}
