import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { provideSettings } from "../env.ts";
import { checkPeer } from "./open-connection.ts";
import { resolveHost } from "./resolve-host.ts";
import { sendRequest } from "./send-request.ts";
import { streamRequest } from "./stream-request.ts";
import { startNameServer } from "./testing/name-server.ts";
import { ask, listening, rawSite, site, textOf } from "./testing/sites.ts";

beforeEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" }));

describe("an address that is not allowed", () => {
  const spellings = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "127.0.0.1..",
    "①②⑦.0.0.1",
    "127。0。0。1",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "any.name.localhost",
    "ｌｏｃａｌｈｏｓｔ",
    "localhost。",
  ];

  test.each(spellings)("S77 S118 is refused before any connection: %s", async (host) => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    const probe = await site((_req, res) => res.end("the inside"));
    const result = await ask(`http://${host}:${probe.port}/`);
    expect(result).toEqual({ outcome: "blocked", reason: "the host is not on the public internet" });
    await delay(20);
    expect(probe.seen.connections).toBe(0);
  });

  test.each([
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://a b/",
    "//host/",
    "path",
    "",
    "http://",
    "http://...",
  ])("S118 is not reached if it is no URL with a host: %j", async (url) => {
    expect((await ask(url)).outcome).not.toBe("answered");
  });

  test.each(["ftp://example.com/", "file:///etc/passwd", "gopher://127.0.0.1/", "data:text/plain,a", "unix:/run/docker.sock"])(
    "S117 is refused with any other scheme than http and https: %s",
    async (url) => {
      expect(await ask(url)).toMatchObject({ outcome: "blocked" });
    },
  );

  test("S117 is refused with a password, a port that is not allowed, or plain http where https is required", async () => {
    const { url, seen, port } = await site((_req, res) => res.end());
    for (const credentials of ["user:password@", "user@", ":password@"])
      expect(await ask(url.replace("//", `//${credentials}`))).toMatchObject({ outcome: "blocked" });
    expect(await ask(url, { isHttpsRequired: true })).toMatchObject({
      outcome: "blocked",
      reason: expect.stringContaining("https"),
    });
    expect(await ask("https://127.0.0.1:1/", { isHttpsRequired: true })).toMatchObject({ outcome: "unreachable" });
    expect(await ask(url, { ports: [443] })).toEqual({ outcome: "blocked", reason: `port ${port} is not allowed here` });
    expect(await ask("https://8.8.8.8:8443/", { ports: [443] })).toMatchObject({ outcome: "blocked" });
    expect(seen.connections).toBe(0);
    expect(await ask(url, { ports: [443, port] })).toMatchObject({ outcome: "answered" });
  });

  test("S78 is refused by its scheme's default port if the URL names no port", async () => {
    const { reason } = (await ask("http://8.8.8.8/", { ports: [443] })) as { reason: string };
    expect(reason).toBe("port 80 is not allowed here");
  });
});

describe("a name", () => {
  test("S117 with any forbidden address is refused before any connection", async () => {
    const { port, seen } = await site((_req, res) => res.end());
    for (const bad of ["10.0.0.5", "169.254.169.254", "fd00::1", "::ffff:10.0.0.5", "::1"]) {
      const { servers } = await startNameServer((_name, family) =>
        [...(family === 4 ? ["127.0.0.1"] : []), bad].filter((address) => address.includes(":") === (family === 6)),
      );
      const result = await sendRequest(
        { url: `http://site.test:${port}/`, deadlineMs: 5_000, maxBodyBytes: 10, onExcess: "cut" },
        (host, signal) => resolveHost(host, signal, servers),
      );
      expect(result, bad).toEqual({ outcome: "blocked", reason: "the host is not on the public internet" });
      expect(JSON.stringify(result)).not.toContain(bad);
    }
    expect(seen.connections).toBe(0);
  });

  test("S77 S117 whose DNS answer changes between the check and the connection leads to the checked address", async () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.2" });
    const vetted = await site((req, res) => res.end(`vetted ${req.headers.host}`), "127.0.0.2");
    const inside = await site((_req, res) => res.end("inside"), "127.0.0.1", vetted.port);
    let asked = 0;
    const { servers, questions } = await startNameServer((_name, family) =>
      family === 6 ? [] : [asked++ === 0 ? "127.0.0.2" : "127.0.0.1"],
    );
    const result = await sendRequest(
      { url: `http://flips.test:${vetted.port}/`, deadlineMs: 5_000, maxBodyBytes: 100, onExcess: "cut" },
      (host, signal) => resolveHost(host, signal, servers),
    );
    expect(textOf(result)).toBe(`vetted flips.test:${vetted.port}`);
    expect(questions.sort()).toEqual(["flips.test A", "flips.test AAAA"]);
    expect(inside.seen.connections).toBe(0);
  });

  test("S117 whose connection leads to an address that was not checked is abandoned", async () => {
    const accepted = createServer();
    const port = await listening(accepted);
    for (const [allowed, vetted] of [
      ["127.0.0.1", ["8.8.8.8"]],
      ["", ["127.0.0.1"]],
    ] as const) {
      provideSettings({ OUTBOUND_ALLOW_CIDRS: allowed });
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      expect(() => checkPeer(socket, [...vetted])).toThrow("the connection led to another address");
      expect(socket.destroyed).toBe(true);
    }
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    checkPeer(socket, ["::ffff:127.0.0.1"]);
    socket.destroy();
  });

  test("S117 whose address is no longer allowed once connected is abandoned before a byte is sent", async () => {
    let bytes = 0;
    const url = await rawSite((socket) => void socket.on("data", (sent) => (bytes += sent.length)));
    const vetting = [true, false];
    const result = await streamRequest({ url, idleMs: 1_000, deadlineMs: 5_000, allows: () => vetting.shift() === true });
    expect(result).toMatchObject({ outcome: "unreachable", reason: "the connection led to another address" });
    expect(bytes).toBe(0);
  });

  test("is tried at its next address when the first does not answer", async () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8" });
    const { port } = await site((_req, res) => res.end("second"));
    const { servers } = await startNameServer((_name, family) => (family === 4 ? ["127.0.0.9", "127.0.0.1"] : []));
    const result = await sendRequest(
      { url: `http://two.test:${port}/`, deadlineMs: 8_000, maxBodyBytes: 100, onExcess: "cut" },
      (host, signal) => resolveHost(host, signal, servers),
    );
    expect(textOf(result)).toBe("second");
  });
});

describe("S119 loopback", () => {
  test("is allowed only if OUTBOUND_ALLOW_CIDRS includes its address", async () => {
    const { url, port, seen } = await site((_req, res) => res.end());
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8" });
    expect(await ask(url)).toMatchObject({ outcome: "blocked" });
    expect(seen.connections).toBe(0);
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8,127.0.0.0/8" });
    expect(await ask(url)).toMatchObject({ outcome: "answered" });
    expect(await ask(`http://app.localhost:${port}/`)).toMatchObject({ outcome: "answered" });
  });
});

describe("S117 a redirect", () => {
  test.each([301, 302, 303, 307, 308])("%d is a response, and is not followed", async (status) => {
    const inside = await site((_req, res) => res.end("inside"));
    const { url } = await site((_req, res) => res.writeHead(status, { location: inside.url }).end());
    expect(await ask(url)).toMatchObject({ outcome: "answered", status, headers: { location: inside.url } });
    expect(inside.seen.connections).toBe(0);
  });
});
