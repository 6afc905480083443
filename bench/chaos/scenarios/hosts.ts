import { once } from "node:events";
import { createServer as createWebServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { newToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { makeWebhook, recordAtRate } from "../load.ts";
import { ask, type Outcome, settle, tally } from "../measure.ts";
import { startReceiver } from "../receiver.ts";
import { latencyNote, type Scenario, startTarget } from "../scenario.ts";
import { memoryOf } from "../service.ts";

async function rawServer(serve: (socket: Socket) => void): Promise<{ port: number; server: Server }> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    serve(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server };
}

/** Each event has 31 deliveries. A higher rate would be too much for a busy machine even with healthy hosts. */
const [PER_SECOND, SECONDS] = [10, 20];
const HOSTS = 10;
const web = createWebServer((req, res) => void req.resume().once("end", () => res.end()));
const ok = (socket: Socket) => void web.emit("connection", socket);
const dead = () => undefined;
const drip = (socket: Socket) => {
  socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
  const timer = setInterval(() => socket.write("."), 1_000);
  socket.on("close", () => clearInterval(timer));
};
const silent = (socket: Socket) => void socket.resume();

/** Measures the healthy host twice. The first time, the thirty other hosts respond, so only their failures differ. */
export const badHosts: Scenario = {
  name: "10 dead hosts, 10 that drip, 10 that never end",
  async run(service) {
    const { repoId, webhookId, receiver } = await startTarget(service);
    const servers: Server[] = [];
    const addHosts = async (scheme: string, serve: (socket: Socket) => void) => {
      const ids: string[] = [];
      for (let each = 0; each < HOSTS; each++) {
        const { port, server } = await rawServer(serve);
        servers.push(server);
        ids.push(await makeWebhook(service.ownerId, repoId, `${scheme}://127.0.0.1:${port}/`, newToken("")));
      }
      return ids;
    };
    const good = [...(await addHosts("http", ok)), ...(await addHosts("http", ok)), ...(await addHosts("http", ok))];
    await recordAtRate(repoId, service.ownerId, PER_SECOND, 3);
    await settle(service, [webhookId, ...good], 60);
    const before = await recordAtRate(repoId, service.ownerId, PER_SECOND, SECONDS);
    await settle(service, [webhookId, ...good], 60);
    const calm = await latencyNote(service, webhookId, before, receiver);
    await removeWebhooks(good);

    const bad = [...(await addHosts("https", dead)), ...(await addHosts("http", drip)), ...(await addHosts("http", silent))];
    const during = await recordAtRate(repoId, service.ownerId, PER_SECOND, SECONDS);
    const isSettled = await settle(service, [webhookId], 60);
    const troubled = await latencyNote(service, webhookId, during, receiver);
    const counts = await tally(service, webhookId, new Set([...before.keys(), ...during.keys()]), receiver);
    const attemptsAt = async (ids: string[]) => {
      const text = "select count(*)::int as count from attempt where webhook_id = any ($1)";
      return (await ask<{ count: number }>(service, text, [ids]))[0]?.count;
    };
    const [answered, unanswered] = [await attemptsAt(good), await attemptsAt(bad)];
    await removeWebhooks([...bad, webhookId]);
    for (const server of servers) server.close();
    receiver.stop();
    const note = (beside: string, { p50, p99 }: { p50: number; p99: number }) => `${beside} p50 ${p50} ms and p99 ${p99} ms`;
    return {
      ...counts,
      note: `healthy ${note("beside 30 good hosts", calm)} (${answered} attempts at these), ${note("beside the bad ones", troubled)} (${unanswered} attempts)`,
      faults: [
        ...(counts.lost + counts.duplicates > 0 ? ["lost or duplicates"] : []),
        ...(isSettled ? [] : ["the healthy queue did not empty"]),
        // One tick of the load and the machine's scheduler may delay a delivery by 50 ms.
        ...(troubled.p99 > Math.max(1.5 * calm.p99, 50) ? ["healthy p99 grew by more than half"] : []),
      ],
    };
  },
};

async function removeWebhooks(ids: string[]): Promise<void> {
  await db().webhook.deleteMany({ where: { id: { in: ids } } });
  await db().deliveryQueue.deleteMany({ where: { webhookId: { in: ids } } });
}

const chunk = Buffer.alloc(64 * 1024, ".");
const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024), { level: 9 });

/** Endless bodies, and 256 MiB of zeros in 260 KB of gzip. The worker reads only 64 KiB of each. */
export const endlessBodies: Scenario = {
  name: "endless and compressed-bomb bodies",
  async run(service) {
    const { repoId, webhookId, receiver } = await startTarget(service);
    let turn = 0;
    receiver.answer = (_request, response) => {
      const isBomb = turn++ % 2 === 0;
      response.writeHead(200, isBomb ? { "content-encoding": "gzip" } : {});
      if (isBomb) return void response.end(bomb);
      const fill = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", fill);
      fill();
    };
    const pid = service.running.pidOf("worker/index.ts");
    const before = memoryOf(pid);
    let most = before;
    const watching = setInterval(() => (most = Math.max(most, memoryOf(pid))), 100);
    const recorded = await recordAtRate(repoId, service.ownerId, 10, 8);
    const isSettled = await settle(service, [webhookId], 25);
    clearInterval(watching);
    const counts = await tally(service, webhookId, new Set(recorded.keys()), receiver);
    const [kept] = await ask<{ most: number; cut: number }>(
      service,
      "select max(length(response_body)) as most, count(*) filter (where is_body_cut)::int as cut from attempt where webhook_id = $1",
      [webhookId],
    );
    await removeWebhooks([webhookId]);
    receiver.stop();
    return {
      ...counts,
      note: `worker's memory ${before} MiB before, ${most} MiB at most; ${kept?.cut} bodies cut, ${kept?.most} bytes kept at most`,
      faults: [
        ...(counts.lost + counts.duplicates > 0 ? ["lost or duplicates"] : []),
        ...(isSettled ? [] : ["the queue did not empty"]),
        ...(most > before + 300 ? ["memory grew by more than 300 MiB"] : []),
        ...((kept?.most ?? 0) > 64 * 1024 ? ["more than 64 KiB kept"] : []),
      ],
    };
  },
};

export const redirects: Scenario = {
  name: "302 to loopback",
  async run(service) {
    const { repoId, webhookId, receiver } = await startTarget(service);
    const inside = await startReceiver("", { host: "127.0.0.9" });
    receiver.answer = (_request, response) => void response.writeHead(302, { location: inside.url }).end();
    const recorded = await recordAtRate(repoId, service.ownerId, 20, 3);
    const eventIds = new Set(recorded.keys());
    let outcome = await attemptsOf(service, webhookId, eventIds);
    for (const deadline = Date.now() + 15_000; outcome.rejected < eventIds.size && Date.now() < deadline; await delay(500)) {
      outcome = await attemptsOf(service, webhookId, eventIds);
    }
    await removeWebhooks([webhookId]);
    receiver.stop();
    inside.stop();
    return {
      ...outcome,
      note: `${inside.arrivals.length} requests inside, ${outcome.rejected} attempts rejected with 302 and to be tried again`,
      faults: [
        ...(inside.arrivals.length > 0 ? ["a redirect was followed"] : []),
        ...(outcome.rejected < recorded.size ? ["not every attempt was rejected"] : []),
      ],
    };
  },
};

async function attemptsOf(service: Parameters<Scenario["run"]>[0], webhookId: string, eventIds: ReadonlySet<string>) {
  const [row] = await ask<{ rejected: number; delivered: number }>(
    service,
    `select count(distinct delivery_id) filter (where outcome = 'rejected' and status = 302)::int as rejected,
       count(*) filter (where outcome = 'delivered')::int as delivered from attempt where webhook_id = $1`,
    [webhookId],
  );
  return { sent: eventIds.size, delivered: row?.delivered ?? 0, lost: 0, duplicates: 0, rejected: row?.rejected ?? 0 };
}

export const flippingNames: Scenario = {
  name: "DNS flips between check and dial",
  async run(service): Promise<Outcome> {
    const secret = newToken("");
    const [vetted, repoId] = [await startReceiver(secret), newId()];
    // This receiver has the same port, at an address that nobody allowed.
    const inside = await startReceiver("", { host: "127.0.0.9", port: vetted.port });
    let asked = 0;
    service.nameServer.answer = () => (asked++ % 2 === 0 ? "127.0.0.1" : "127.0.0.9");
    const webhookId = await makeWebhook(service.ownerId, repoId, `http://flips.test:${vetted.port}/`, secret);
    const recorded = await recordAtRate(repoId, service.ownerId, 20, 6);
    await delay(12_000);
    const counts = await tally(service, webhookId, new Set(recorded.keys()), vetted);
    const [blocked] = await ask<{ count: number }>(
      service,
      "select count(*)::int as count from attempt where webhook_id = $1 and outcome = 'blocked'",
      [webhookId],
    );
    service.nameServer.answer = () => undefined;
    await removeWebhooks([webhookId]);
    vetted.stop();
    inside.stop();
    return {
      ...counts,
      lost: 0,
      note: `looked up ${asked} times, ${blocked?.count} attempts blocked (tried again), ${inside.arrivals.length} requests reached the forbidden address`,
      faults: [
        ...(inside.arrivals.length > 0 ? ["the forbidden address was reached"] : []),
        ...(counts.delivered === 0 || (blocked?.count ?? 0) === 0 ? ["nothing flipped"] : []),
      ],
    };
  },
};
