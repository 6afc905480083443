import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { createBackup } from "#core/backup/create-backup.ts";
import { closeConnections, inPreparedTransaction, inTransaction, pool, withDirectConnection } from "#core/db.ts";
import { databaseUrl, provideSettings } from "#core/env.ts";
import { EVENT_CHANNEL, recordEvents } from "#core/events/record-event.ts";
import { sweep } from "#core/housekeeping/sweep.ts";
import { newId } from "#core/ids.ts";
import { isListening, listen } from "#core/notifications.ts";
import { rotateSecret } from "#core/oauth/apps/app-secrets.ts";
import { exchange, prepareExchange } from "#core/oauth/testing/exchange.ts";
import { asApp, refresh, signIn } from "#core/oauth/testing/sign-in.ts";
import { startWorld, type World } from "#core/oauth/testing/world.ts";
import { connect } from "#core/postgres/copy/check-target.ts";
import { startPooler } from "#core/testing/start-pooler.ts";
import { DeliveryEngine } from "#core/webhooks/delivery/delivery-engine.ts";
import { closeDeliveryPool } from "#core/webhooks/delivery/delivery-pool.ts";
import { watchingWebhook } from "#core/webhooks/testing/fan-out.ts";
import { handleRequest } from "./handle-request.ts";

let pooler: Awaited<ReturnType<typeof startPooler>>;
let world: World;
const direct = databaseUrl();

beforeAll(async () => {
  pooler = await startPooler(direct);
  provideSettings({ DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: direct, OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
  await closeConnections();
  world = await startWorld((req, res) => handleRequest(async (_, page) => void page.writeHead(200).end("page"), req, res));
});
afterAll(async () => {
  await world.stop();
  await closeDeliveryPool();
  await closeConnections();
  provideSettings({ DATABASE_URL: direct, DATABASE_DIRECT_URL: "" });
  await pooler.stop();
});

const AT_ONCE = 8;
const together = <T>(run: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: AT_ONCE }, run));

test("people sign in, and apps refresh their tokens", async () => {
  const all = await together(() => signIn(world, { isConfidential: true, isRefreshAllowed: true }));
  const refreshed = await Promise.all(all.map((at) => refresh(at, at.tokens.refresh_token)));
  expect(refreshed.map(({ status }) => status)).toEqual(all.map(() => 200));
  const userinfo = await Promise.all(refreshed.map(({ body }) => world.userinfo(body.access_token)));
  expect(userinfo.map(({ status }) => status)).toEqual(all.map(() => 200));
});

test("tokens are exchanged", async () => {
  const at = await prepareExchange(world);
  const answers = await together(() => exchange(at, at.writer.email));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test("a change becomes an event, is announced to the worker, and is delivered once", async () => {
  const received: unknown[] = [];
  const receiver = await serve((req, res) => {
    received.push(req.headers["webhook-id"]);
    res.end();
  });
  const { id: ownerId } = await world.user(`owner-${newId()}`);
  const repoId = newId();
  await watchingWebhook({ kind: "user", id: ownerId }, [repoId], { url: receiver.url });
  const engine = new DeliveryEngine();
  await listen(EVENT_CHANNEL, () => engine.announceEvents());
  engine.start();
  const url = { web: "https://hub.example.com/ada/tides", api: "https://hub.example.com/api/models/ada/tides" };
  const repo = { type: "model" as const, name: "ada/tides", id: repoId, private: false, url, owner: { id: ownerId }, tags: [] };
  const payload = { event: { scope: "repo" as const, action: "update" as const }, repo };
  await together(() => inTransaction((tx) => recordEvents(tx, [{ payload, actorId: null }])));
  await expect.poll(() => received.length, { timeout: 30_000 }).toBe(AT_ONCE);
  expect(new Set(received).size).toBe(AT_ONCE);
  await engine.stop();
  receiver.stop();
});

test("statements that are sent without waiting stay in their transaction", async () => {
  const ids = await together(() =>
    inPreparedTransaction(async (tx) => {
      const read = () => tx.$queryRaw<{ id: string }[]>`select txid_current()::text as id`;
      const [[first], [second]] = await Promise.all([read(), read()]);
      return async () => [first?.id, second?.id];
    }),
  );
  for (const [first, second] of ids) expect(second).toBe(first);
  expect(new Set(ids.flat()).size).toBe(AT_ONCE);
});

test("S52 a secret that was rotated is not accepted afterwards, because notifications bypass the pooler", async () => {
  const { app } = await signIn(world, { isConfidential: true });
  const withSecret = async (secret: string | undefined) =>
    (await asApp(world, { ...app, secret }, "/oauth/introspect", { token: "x" })).status;
  expect(await withSecret(app.secret)).toBe(200);
  expect(isListening()).toBe(true);
  const { secret } = await rotateSecret(operatorCommand, app.id, {}, noOrigin);
  await expect.poll(() => withSecret(app.secret)).toBe(401);
  expect(await withSecret(secret)).toBe(200);
});

test("a session lock of the database is held and released, because its connection bypasses the pooler", async () => {
  expect(await withDirectConnection(async ({ port }) => String(port))).toBe(new URL(direct).port);
  const plan = [{ table: "throttle", isOver: "reset_at <= now()" }];
  for (let round = 1; round <= 3; round++) {
    await pool().query("insert into throttle (key, count, reset_at) values ('old', 1, now() - interval '1 second')");
    expect(await sweep(new AbortController().signal, plan)).toEqual({ throttle: 1 });
  }
});

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, stop };
}

test("a backup reads past the pooler, which would not keep the settings of its session", async () => {
  await expect(connect("DATABASE_URL", pooler.url)).rejects.toThrow(/leads to a pooler/);
  provideSettings({ DATABASE_OWNER_URL: "", BACKUP_PASSWORD: "a password only for the tests of backups" });
  const { manifest } = await createBackup({ to: await mkdtemp(join(tmpdir(), "keyhook-backup-")) });
  expect(manifest.migrations).not.toEqual([]);
}, 120_000);
