import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { provideSettings } from "#core/env.ts";
import { fetchForEngine } from "./fetch-client-keys.ts";

afterEach(() => void provideSettings({ ORIGIN: "http://localhost:3000", OUTBOUND_ALLOW_CIDRS: "" }));

async function site(body: string, status = 200) {
  const seen: { requests: number; userAgent?: string } = { requests: 0 };
  const server = createServer((req, res) => {
    seen.requests++;
    seen.userAgent = req.headers["user-agent"];
    res.writeHead(status, { "content-type": "application/json", location: "/elsewhere" }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks` };
}

describe("what the engine fetches", () => {
  test("is a Response, as `fetch` returns", async () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
    const { url, seen } = await site('{"keys":[]}');
    const response = await fetchForEngine(url, {
      method: "GET",
      headers: new Headers({ accept: "application/json", "user-agent": "" }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ keys: [] });
    expect(seen.userAgent).toMatch(/^Keyhook\//);
  });

  test("S77 never comes from an internal address", async () => {
    const { url, seen } = await site("{}");
    await expect(fetchForEngine(url)).rejects.toThrow("the host is not on the public internet");
    expect(seen.requests).toBe(0);
  });

  test("S78 must be at https and port 443, unless the service is on loopback", async () => {
    provideSettings({ ORIGIN: "https://keyhook.example", OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
    const { url, seen } = await site("{}");
    await expect(fetchForEngine(url)).rejects.toThrow("https://");
    await expect(fetchForEngine(url.replace("http:", "https:"))).rejects.toThrow(/^port \d+ is not allowed here$/);
    expect(seen.requests).toBe(0);
  });

  test("S117 is at most 64 KiB long, without redirects", async () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
    const moved = await site("", 302);
    expect((await fetchForEngine(moved.url)).status).toBe(302);
    expect(moved.seen.requests).toBe(1);
    const long = await site("a".repeat(64 * 1024 + 1));
    await expect(fetchForEngine(long.url)).rejects.toThrow("the response is longer than 65,536 bytes");
  });
});
