import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CONCURRENCY, forgetFetches, LIMITS, withinFetchLimits } from "./within-fetch-limits.ts";

beforeEach(() => {
  forgetFetches();
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

let made = 0;
const unknown = (asked: { hostname?: string | undefined; address?: string | null; clientId?: string } = {}) => {
  const hostname = asked.hostname ?? `h${made++}.example`;
  return { clientId: `https://${hostname}/${made++}`, hostname, use: "unknown" as const, address: null, ...asked };
};
const known = (clientId: string, address: string | null = null) => ({
  ...unknown({ clientId }),
  use: "used" as const,
  address,
});
const fetched = async () => "fetched";
const times = async (count: number, ask: () => Promise<unknown>) => {
  for (let each = 0; each < count; each++) await ask();
};

describe("S80 fetches are limited", () => {
  test("by the requesting address for one minute, and a /64 counts as one address", async () => {
    let last = 0;
    const ask = () => withinFetchLimits(unknown({ address: `2001:db8:1:2::${++last}` }), fetched);
    await times(LIMITS.ofAddress, ask);
    await expect(ask()).rejects.toMatchObject({ kind: "busy", isOwnFault: true, retryAfterSeconds: 60 });
    expect(await withinFetchLimits(unknown({ address: "2001:db8:1:3::1" }), fetched)).toBe("fetched");
    vi.setSystemTime(Date.now() + 59_000);
    await expect(ask()).rejects.toMatchObject({ retryAfterSeconds: 1 });
    vi.setSystemTime(Date.now() + 1_001);
    expect(await ask()).toBe("fetched");
  });

  test("by /48, which may fetch half of the unknown documents", async () => {
    let network = 0;
    const ask = () => withinFetchLimits(unknown({ address: `2001:db8:1:${++network}::1` }), fetched);
    await times(LIMITS.ofUnknown / 2, ask);
    await expect(ask()).rejects.toMatchObject({ kind: "busy", isOwnFault: true });
    expect(await withinFetchLimits(unknown({ address: "2001:db8:2:1::1" }), fetched)).toBe("fetched");
  });

  test("by host, except for stored documents", async () => {
    const ask = () => withinFetchLimits(unknown({ hostname: "app.example" }), fetched);
    await times(LIMITS.ofUnknownOnHost, ask);
    await expect(ask()).rejects.toMatchObject({ kind: "busy", isOwnFault: false });
    expect(await withinFetchLimits(known("https://app.example/client"), fetched)).toBe("fetched");
  });

  test("in total, except for stored documents", async () => {
    await times(LIMITS.ofUnknown, () => withinFetchLimits(unknown(), fetched));
    await expect(withinFetchLimits(unknown(), fetched)).rejects.toMatchObject({ kind: "busy", isOwnFault: false });
    expect(await withinFetchLimits(known("https://app.example/client"), fetched)).toBe("fetched");
  });

  test("by document", async () => {
    const ask = () => withinFetchLimits(known("https://app.example/client"), fetched);
    await times(LIMITS.ofKnownDocument, ask);
    await expect(ask()).rejects.toMatchObject({ kind: "busy", isOwnFault: false });
    expect(await withinFetchLimits(known("https://other.example/client"), fetched)).toBe("fetched");
  });

  test("without counting refused requests", async () => {
    const ask = () => withinFetchLimits(unknown({ hostname: "app.example", address: "192.0.2.1" }), fetched);
    await times(LIMITS.ofUnknownOnHost, ask);
    await times(40, () => ask().catch(() => undefined));
    expect(await withinFetchLimits(unknown({ address: "192.0.2.1" }), fetched)).toBe("fetched");
  });

  test("by the number of simultaneous fetches, from one host and in total", async () => {
    const ends: (() => void)[] = [];
    const slow = () =>
      new Promise<void>((resolve, reject) => ends.push(ends.length % 2 ? resolve : () => reject(new Error("no"))));
    const open = (asked: Parameters<typeof withinFetchLimits>[0]) => withinFetchLimits(asked, slow).catch(() => undefined);
    const running = Array.from({ length: CONCURRENCY.unknownOnHost }, () => open(unknown({ hostname: "app.example" })));
    await expect(withinFetchLimits(unknown({ hostname: "app.example" }), fetched)).rejects.toMatchObject({ kind: "busy" });
    while (running.length < CONCURRENCY.unknown) running.push(open(unknown()));
    await expect(withinFetchLimits(unknown(), fetched)).rejects.toMatchObject({ kind: "busy" });
    expect(await withinFetchLimits(known("https://app.example/client"), fetched)).toBe("fetched");
    const ofKnown = { ...known("https://slow.example/client"), hostname: "slow.example" };
    while (running.length < CONCURRENCY.unknown + CONCURRENCY.knownOnHost) running.push(open(ofKnown));
    await expect(withinFetchLimits(ofKnown, fetched)).rejects.toMatchObject({ kind: "busy", isOwnFault: false });
    expect(await withinFetchLimits(known("https://app.example/client"), fetched)).toBe("fetched");
    const unused = (hostname?: string) => ({ ...unknown({ hostname }), use: "unused" as const });
    const before = running.length;
    while (running.length < before + CONCURRENCY.unused)
      running.push(open(unused(running.length % 5 ? undefined : "app.example")));
    await expect(withinFetchLimits(unused(), fetched)).rejects.toMatchObject({ kind: "busy", isOwnFault: false });
    expect(await withinFetchLimits({ ...known("https://app.example/client"), hostname: "app.example" }, fetched)).toBe("fetched");
    for (const end of ends) end();
    await Promise.all(running);
    expect(await withinFetchLimits(unknown({ hostname: "app.example" }), fetched)).toBe("fetched");
    expect(await withinFetchLimits(ofKnown, fetched)).toBe("fetched");
  });
});
