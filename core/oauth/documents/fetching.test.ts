import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { db } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { ask } from "../testing/authorization.ts";
import { DOCUMENT_PATH, type DocumentSite, makeStale, startDocumentSite } from "../testing/document-site.ts";
import { startWorld, type TestApp } from "../testing/world.ts";
import { BUSY_STALE_MAX_SECONDS } from "./prepare-client.ts";
import { CONCURRENCY, forgetFetches, LIMITS, withinFetchLimits } from "./within-fetch-limits.ts";

vi.setConfig({ testTimeout: 60_000 });

const sites: DocumentSite[] = [];
const world = await startWorld();
beforeEach(() => {
  forgetFetches();
  world.sendFrom("127.0.0.1");
});
afterAll(async () => {
  await world.stop();
  for (const site of sites) await site.stop();
});

async function openSite(changes: Record<string, unknown> = {}): Promise<DocumentSite> {
  const site = await startDocumentSite(changes);
  sites.push(site);
  return site;
}

const appAt = (clientId: string): TestApp => ({ id: "", clientId, secret: undefined });

async function begin(site: Pick<DocumentSite, "clientId" | "redirectUri">) {
  const outcome = await ask({ world, app: appAt(site.clientId), browser: world.browser() }, { redirect_uri: site.redirectUri });
  return { ...outcome, detail: /<pre><code>([^<]*)/.exec(outcome.page)?.[1] };
}

async function expectRefusal(site: Pick<DocumentSite, "clientId" | "redirectUri">, reason: RegExp) {
  const { status, location, detail } = await begin(site);
  expect({ status, location, detail }).toEqual({ status: 400, location: undefined, detail: expect.stringMatching(reason) });
  expect(await db().oAuthClientDocument.count({ where: { clientId: site.clientId } })).toBe(0);
}

const redirectUri = "https://app.example.test/callback";

describe("S68 cheap checks come before any connection (S81)", () => {
  test.each([
    ["no path", "/"],
    ["a dot segment", "/a/%2e%2e/client"],
    ["a fragment", "/client#x"],
  ])("%s", async (_, path) => {
    const site = await openSite();
    await expectRefusal(
      { clientId: site.origin + path, redirectUri },
      /^invalid_client_metadata: The client ID is not a valid URL/,
    );
    expect(site.connections()).toBe(0);
  });

  test("S68 S81 a program gets the error as JSON", async () => {
    const site = await openSite();
    const clientId = `${site.origin}/`;
    for (const path of ["/oauth/par", "/oauth/device"]) {
      const response = await world.post(path, { client_id: clientId });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        error: "invalid_client_metadata",
        error_description: expect.stringMatching(/needs a path/),
      });
    }
    expect(site.connections()).toBe(0);
  });
});

test("S68 a document on the service's own host is neither fetched nor used", async () => {
  const clientId = `${world.origin.replace("http:", "https:")}/spaces/mallory/app/client.json`;
  await expectRefusal(
    { clientId, redirectUri },
    /^invalid_client_metadata: The client ID is not a valid URL.*host of this service/,
  );
  const site = await openSite();
  await begin(site);
  await db().oAuthClientDocument.update({ where: { clientId: site.clientId }, data: { clientId } });
  expect(await findClientMetadata(clientId)).toBeUndefined();
});

describe("S77 an internal address is refused before any connection", () => {
  test.each(["localhost", "127.0.0.1", "[::1]", "[::ffff:7f00:1]"])("%s", async (host) => {
    let connections = 0;
    const probe = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0);
    await once(probe, "listening");
    const { port } = probe.address() as { port: number };
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    try {
      const clientId = `https://${host}:${port}/client`;
      await expectRefusal({ clientId, redirectUri }, /cannot be fetched: the host is not on the public internet/);
    } finally {
      provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,::1/128" });
      probe.close();
    }
    expect(connections).toBe(0);
  });

  test("of a service in any range of the internal network", async () => {
    for (const host of ["169.254.169.254", "10.0.0.1", "0.0.0.0", "[fe80::1]", "100.64.0.1"]) {
      await expectRefusal({ clientId: `https://${host}/latest/meta-data`, redirectUri }, /not on the public internet|written as/);
    }
  });
});

test("S78 only port 443 is used unless the service is on loopback", async () => {
  const site = await openSite();
  const { ORIGIN } = provideSettings({});
  provideSettings({ ORIGIN: "https://keyhook.example.com" });
  try {
    const response = await world.post("/oauth/device", { client_id: site.clientId });
    expect(await response.json()).toMatchObject({ error_description: expect.stringMatching(/443/) });
  } finally {
    provideSettings({ ORIGIN });
  }
  expect(site.connections()).toBe(0);
});

describe("S75 only a 200 response with JSON is a document", () => {
  test.each([301, 302, 303, 307, 308])("%i is not followed", async (status) => {
    const target = await openSite();
    const site = await openSite();
    site.serve({ status, headers: { location: target.clientId } });
    await expectRefusal(site, /redirect .* not followed/);
    expect(target.connections()).toBe(0);
  });

  test.each([201, 204, 206, 304, 400, 401, 403, 404, 410, 418, 429, 500, 502, 503])("%i is not a document", async (status) => {
    const site = await openSite();
    site.serve({ status, body: status === 204 || status === 304 ? undefined : "{}" });
    await expectRefusal(site, new RegExp(`${status}`));
    expect(site.fetches()).toBe(1);
  });

  test.each(["text/plain", "text/html", "text/json", "application/jsonp", "application/octet-stream", "", "json"])(
    "%j is not JSON",
    async (type) => {
      const site = await openSite();
      site.publish({}, { "content-type": type });
      await expectRefusal(site, /application\/json/);
    },
  );

  test.each(["application/json; charset=utf-8", "Application/JSON", "application/client-metadata+json"])(
    "%s is JSON",
    async (type) => {
      const site = await openSite();
      site.publish({}, { "content-type": type });
      expect((await begin(site)).isQuestion).toBe(true);
    },
  );
});

describe("S74 a document has at most 5,120 bytes", () => {
  const padded = (site: DocumentSite, bytes: number) => {
    const text = JSON.stringify({ client_id: site.clientId, client_name: "Kite", redirect_uris: [site.redirectUri], x: "" });
    return text.replace('"x":""', `"x":"${"x".repeat(bytes - text.length)}"`);
  };

  test("accepts 5,120 bytes and refuses 5,121, even without a Content-Length", async () => {
    const site = await openSite();
    site.serve({ body: padded(site, 5_121) });
    await expectRefusal(site, /longer than 5,120 bytes/);
    site.serve({ body: padded(site, 5_121), headers: { "transfer-encoding": "chunked" } });
    await expectRefusal(site, /longer than 5,120 bytes/);
    site.serve({ body: padded(site, 5_120) });
    expect((await begin(site)).isQuestion).toBe(true);
  });

  test("reading stops within a large response, and within a small one that decompresses to more", async () => {
    const site = await openSite();
    for (const headers of [{}, { "content-encoding": "gzip" }] as Record<string, string>[]) {
      const megabyte = Buffer.from(padded(site, 1024 * 1024));
      site.serve({ body: headers["content-encoding"] ? gzipSync(megabyte) : megabyte, headers });
      await expectRefusal(site, /longer than 5,120 bytes/);
    }
  });

  test("reading stops within an endless response", async () => {
    const site = await openSite();
    site.answer((_req, res) => {
      res.writeHead(200, { "content-type": "application/json" });
      const pour = () => {
        while (!res.destroyed && res.write("x".repeat(16_384)));
        if (!res.destroyed) res.once("drain", pour);
      };
      pour();
    });
    await expectRefusal(site, /longer than 5,120 bytes/);
  });
});

describe("S76 a document has five seconds for everything", () => {
  test("even if the document arrives byte by byte", async () => {
    const [dripping, silent] = [await openSite(), await openSite()];
    dripping.answer(async (_req, res) => {
      res.writeHead(200, { "content-type": "application/json" });
      for (const letter of JSON.stringify({ client_id: dripping.clientId })) {
        if (res.destroyed) return;
        res.write(letter);
        await delay(200);
      }
    });
    silent.answer(() => undefined);
    await Promise.all([
      expectRefusal(dripping, /did not end in time/),
      expectRefusal(silent, /no response arrived in time/),
      openSite().then(async (site) => expect((await begin(site)).isQuestion).toBe(true)),
    ]);
  });

  test("even if the host accepts connections and sends nothing", async () => {
    const mute = createServer(() => undefined).listen(0);
    await once(mute, "listening");
    const { port } = mute.address() as { port: number };
    await expectRefusal(
      { clientId: `https://localhost:${port}/client`, redirectUri },
      /secure connection was not established in time/,
    );
    mute.close();
  });
});

describe("S70 a document that names another client ID", () => {
  test("is refused at the first fetch and at later ones", async () => {
    const site = await openSite();
    site.publish({ client_id: `${site.clientId}/` });
    await expectRefusal(site, /client_id: .*exactly the URL/);
    site.publish();
    expect((await begin(site)).isQuestion).toBe(true);
    await makeStale(site.clientId);
    site.publish({ client_id: "https://evil.example.com/client" });
    expect(await begin(site)).toMatchObject({ status: 400, detail: expect.stringMatching(/client_id: /) });
  });
});

describe("S79 fetches and caching", () => {
  test("ten simultaneous requests cause one fetch", async () => {
    const site = await openSite();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => begin(site)));
    expect(outcomes.every(({ isQuestion }) => isQuestion)).toBe(true);
    expect(site.fetches()).toBe(1);
  });

  test("ten simultaneous requests for a broken document cause one fetch", async () => {
    const site = await openSite();
    site.answer((_req, res) => {
      setTimeout(() => res.writeHead(200, { "content-type": "application/json" }).end("{"), 300);
    });
    await Promise.all(Array.from({ length: 10 }, () => expectRefusal(site, /valid JSON/)));
    expect(site.fetches()).toBe(1);
  });

  test("only a stale document is fetched again", async () => {
    const site = await openSite();
    await begin(site);
    await begin(site);
    expect(site.fetches()).toBe(1);
    await makeStale(site.clientId);
    await begin(site);
    await begin(site);
    expect(site.fetches()).toBe(2);
  });

  test("the use of a current document is not a fetch, and is recorded to the hour", async () => {
    const site = await openSite();
    const where = { clientId: site.clientId };
    const seen = async () => (await db().oAuthClientDocument.findUniqueOrThrow({ where })).lastSeenAt.getTime();
    for (let each = 0; each < 2 * LIMITS.ofKnownDocument; each++) expect((await begin(site)).isQuestion).toBe(true);
    const first = await seen();
    await begin(site);
    expect(await seen()).toBe(first);
    await db().oAuthClientDocument.update({ where, data: { lastSeenAt: new Date(first - 2 * 60 * 60 * 1000) } });
    await begin(site);
    expect(await seen()).toBeGreaterThanOrEqual(first);
    expect(site.fetches()).toBe(1);
  });

  test("errors and invalid documents are not cached", async () => {
    const site = await openSite();
    site.serve({ status: 503 });
    await expectRefusal(site, /503/);
    site.serve({ body: "[]" });
    await expectRefusal(site, /JSON object/);
    site.publish();
    expect((await begin(site)).isQuestion).toBe(true);
    expect(site.fetches()).toBe(3);
  });

  test("a 304 response makes the stored document current", async () => {
    const site = await openSite();
    const tags: (string | undefined)[] = [];
    site.publish({ client_name: "Kite One" }, { etag: '"one"', "cache-control": "max-age=3600" });
    await begin(site);
    await makeStale(site.clientId);
    site.answer((req, res) => {
      tags.push(req.headers["if-none-match"]);
      res.writeHead(304, { "cache-control": "max-age=7200" }).end();
    });
    expect((await begin(site)).isQuestion).toBe(true);
    expect(tags).toEqual(['"one"']);
    const { metadata, etag, freshUntil } = await db().oAuthClientDocument.findUniqueOrThrow({
      where: { clientId: site.clientId },
    });
    expect({ metadata, etag }).toMatchObject({ metadata: { client_name: "Kite One" }, etag: '"one"' });
    expect(Math.round((freshUntil.getTime() - Date.now()) / 60_000)).toBe(120);
  });

  test("a 304 response without a stored document is an error", async () => {
    const site = await openSite();
    site.serve({ status: 304 });
    await expectRefusal(site, /304/);
  });

  test("a stale document whose site is down cannot start a sign-in", async () => {
    const site = await openSite();
    await begin(site);
    await makeStale(site.clientId);
    site.serve({ status: 503 });
    expect(await begin(site)).toMatchObject({ status: 400, detail: expect.stringMatching(/503/) });
  });
});

describe("S80 an address that causes too many fetches", () => {
  test("gets a page that asks it to wait, while other addresses are served", async () => {
    const site = await openSite();
    world.sendFrom("192.0.2.80");
    // Limits count by host name, so this name is another host.
    const host = site.origin.replace("localhost", "127.0.0.1");
    const clients = Array.from({ length: LIMITS.ofUnknownOnHost }, (_, at) => `${host}/made-up/${at}`);
    for (const clientId of clients) await expectRefusal({ clientId, redirectUri }, /404/);
    const other = await openSite();
    const rest = Array.from({ length: LIMITS.ofAddress - clients.length }, (_, at) => `https://127.0.0.2:1/${at}`);
    for (const clientId of rest) await expectRefusal({ clientId, redirectUri }, /refused/);
    const { status, headers, detail } = await begin(other);
    expect({ status, detail }).toEqual({ status: 429, detail: expect.stringMatching(/Too many documents/) });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(other.connections()).toBe(0);
    world.sendFrom("192.0.2.81");
    expect((await begin(other)).isQuestion).toBe(true);
    const spared = await begin({ clientId: `${host}/made-up/more`, redirectUri });
    expect(spared.status).toBe(503);
    expect(Number(spared.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(site.asked).toHaveLength(clients.length);
  });
});

describe("S80 documents of others that hold all slots", () => {
  async function whileTaken(use: "used" | "unused", work: () => Promise<void>) {
    let end = () => {};
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    const hosts = Array.from({ length: CONCURRENCY[use] }, () => `${newId()}.example`);
    const running = hosts.map((hostname) => withinFetchLimits({ clientId: newId(), hostname, use, address: null }, () => held));
    await work().finally(() => Promise.all([end(), ...running]));
  }

  async function staleSite(changes: Record<string, unknown> = {}, seconds = 60) {
    const site = await openSite(changes);
    await begin(site);
    await makeStale(site.clientId, seconds);
    return site;
  }

  test("do not stop an app that users have allowed", async () => {
    const site = await staleSite();
    await db().oAuthConsent.create({
      data: { id: newId(), userId: (await world.user(`p-${newId()}`)).id, clientId: site.clientId, clientFingerprint: "" },
    });
    await whileTaken("unused", async () => expect((await begin(site)).isQuestion).toBe(true));
    expect(site.fetches()).toBe(2);
  });

  test("do not stop an app whose stored document has been stale for less than an hour", async () => {
    const [site, old] = [await staleSite(), await staleSite({}, BUSY_STALE_MAX_SECONDS + 60)];
    await whileTaken("unused", async () => {
      expect((await begin(site)).isQuestion).toBe(true);
      expect((await begin(old)).status).toBe(503);
    });
    expect([site.fetches(), old.fetches()]).toEqual([1, 1]);
  });

  test("do not restore a withdrawn document, one whose site is down, or one with keys", async () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const keys = { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [publicKey.export({ format: "jwk" })] } };
    const [gone, down, withKeys] = [await staleSite(), await staleSite(), await staleSite(keys)];
    gone.serve({ status: 404 });
    down.serve({ status: 503 });
    expect([(await begin(gone)).status, (await begin(down)).status]).toEqual([400, 400]);
    await whileTaken("unused", async () => {
      for (const site of [gone, down, withKeys]) expect((await begin(site)).status).toBe(503);
      const form = { grant_type: "refresh_token", refresh_token: "x", client_id: gone.clientId };
      expect((await world.post("/oauth/token", form)).status).toBe(503);
    });
  });
});

describe("S81 requests that continue a sign-in never fetch the document of an unknown client", () => {
  test.each([
    ["/oauth/token", { grant_type: "authorization_code", code: "x" }],
    ["/oauth/token", { grant_type: "refresh_token", refresh_token: "x" }],
    ["/oauth/revoke", { token: "x" }],
  ])("%s %j", async (path, form) => {
    const site = await openSite();
    const response = await world.post(path, { ...form, client_id: site.clientId } as Record<string, string>);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: "invalid_client" });
    expect(site.connections()).toBe(0);
  });
});

test("S51 S11 NUL and repeated parameters cause no server error", async () => {
  const site = await openSite();
  const browser = world.browser();
  for (const search of [
    "client_id=https%3A%2F%2Fapp.example.com%2F%00",
    `client_id=${encodeURIComponent(site.clientId)}&client_id=${encodeURIComponent(site.clientId)}`,
    "client_id=https%3A%2F%2F",
    `client_id=${encodeURIComponent(`https://a.example/${"x".repeat(4000)}`)}`,
  ]) {
    const outcome = await ask({ world, app: appAt(newId()), browser }, `${search}&response_type=code`);
    expect([outcome.status, outcome.location]).toEqual([400, undefined]);
  }
  expect(site.asked.filter((path) => path === DOCUMENT_PATH)).toEqual([]);
});
