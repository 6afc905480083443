import { expect, test, vi } from "vitest";
import { searchDocs } from "./search-docs.ts";

const filling = { origin: "https://hub.test", brand: "Hub", vendor: "hub", tokenPrefix: "hub_" };
const others = [{ href: "/docs/badges", page: "Badges", text: "A place for the button." }];
const hrefs = async (search: string) => (await searchDocs(search, filling, others)).map(({ href }) => href);

test.each([
  ["verify", "/docs/webhooks#receive-and-verify"],
  ["Verify Signature", "/docs/webhooks#receive-and-verify"],
  ["webhook retry", "/docs/webhooks#delivery"],
  ["redirect uri", "/docs/sign-in#troubleshooting"],
  ["LFS", "/docs/spaces#how-it-runs"],
  ["place for buttons", "/docs/badges"],
])("%s finds a section by its text", async (search, href) => {
  expect(await hrefs(search)).toContain(href);
});

test("a section must contain all words, which are not read as patterns", async () => {
  expect(await hrefs("webhook nosuchword")).toEqual([]);
  expect(await hrefs(".*")).toEqual([]);
  expect(await hrefs("  ")).toEqual([]);
});

test("a section with the words in its heading comes first, and the excerpt marks the words", async () => {
  expect((await hrefs("verify signature"))[0]).toBe("/docs/webhooks#receive-and-verify");
  const [first] = await searchDocs("installation", filling, [
    { href: "/x", page: "Installation", text: "Hub, an installation." },
  ]);
  expect(first?.excerpt).toEqual([
    { text: "Hub, an ", isMatch: false },
    { text: "installation", isMatch: true },
    { text: ".", isMatch: false },
  ]);
  const pieces = (await searchDocs("sign", filling, [])).flatMap(({ excerpt }) => excerpt.map(({ text }) => text));
  expect(pieces.join(" ")).not.toContain("Keyhook");
});

test("the code of examples is not searched, because excerpts of it are not sentences", async () => {
  expect(await hrefs("tide")).not.toContain("/docs/events#repo--create");
});

test("S137 many first searches at the same time read the guides once", async () => {
  const costOf = async (searches: number) => {
    vi.resetModules();
    const fresh = await import("./search-docs.ts");
    const start = process.cpuUsage();
    await Promise.all(Array.from({ length: searches }, () => fresh.searchDocs("nosuchword", filling, others)));
    return process.cpuUsage(start).user;
  };
  const one = await costOf(1);
  expect(await costOf(12)).toBeLessThan(4 * one);
});
