import { expect, test } from "vitest";
import { signedInPerson } from "../../accounts/testing/people.ts";
import { commitTo, someRepo } from "../testing/repos.ts";
import { FRONT_MATTER_MAX_CHARACTERS } from "./front-matter.ts";
import { parseCard } from "./parse-card.ts";
import { checkCard, parseFrontMatter } from "./read-card.ts";
import { readRepo } from "./read-repos.ts";

const card = (yaml: string): string => `---\n${yaml}\n---\n# Tides\n`;
const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");
const filled = (part: string): string => part.repeat(FRONT_MATTER_MAX_CHARACTERS / part.length);

test("errors have a position, and a repeated name is an error", async () => {
  expect((await checkCard(card("license: mit\ntags: [a, b"), "model")).errors[0]).toMatch(/at line \d+, column \d+$/);
  const { errors } = await checkCard(card("license: mit\nlicense: bsd"), "model");
  expect(errors).toEqual(["Map keys must be unique at line 2, column 1"]);
  expect(await checkCard(card("license: mit"), "model")).toEqual({ errors: [], warnings: [] });
});

const BOMBS = {
  "a great many names": lines(60_000, (at) => `k${at}:`),
  "a great many aliases": `a:\n${lines(20_000, (at) => `- &a${at} 1\n- *a${at}`)}`,
  "a great many anchors": `a: ${"&a ".repeat(100_000)}`,
  "a great many errors": ":\n".repeat(200_000),
  "fewer names, in fewer characters": lines(8_000, (at) => `k${at}:`),
  "fewer anchors, in fewer characters": `a: ${"&a ".repeat(20_000)}`,
  "lists that do not end": filled("[}"),
  "lists side by side": filled("[a]"),
  "mappings side by side": filled("{}"),
};

const mainThreadMs = async (work: () => unknown): Promise<number> => {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
};

test("S137 hostile front matter takes little time of the event loop", async () => {
  await checkCard(card("license: mit"), "model");
  const honest = filled("- a: [1, 2]\n  b: {c: dd}\n      ");
  const honestMs = await mainThreadMs(() => [parseCard(honest), parseCard(honest)]);
  for (const [name, yaml] of Object.entries(BOMBS)) {
    const hostileMs = await mainThreadMs(() => Promise.all([checkCard(card(yaml), "model"), parseFrontMatter(card(yaml))]));
    expect(hostileMs, name).toBeLessThan(honestMs);
  }
});

test("S137 a README that is slow to parse can be pushed, and the next one is read", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const commitMs = await mainThreadMs(() => commitTo(repo, ada, { "README.md": card("license: mit\ntags: [sea]") }));
  const read = async () => (await readRepo(repo.id))?.card;
  expect(await read()).toEqual({ license: "mit", tags: ["sea"] });
  const hostileMs = await mainThreadMs(() => commitTo(repo, ada, { "README.md": card(filled("[}")) }));
  expect(await read()).toBeNull();
  const inProcessMs = await mainThreadMs(() => parseCard(filled("[}")));
  expect(hostileMs - commitMs).toBeLessThan(inProcessMs / 2);
  await commitTo(repo, ada, { "README.md": card("license: bsd") });
  expect(await read()).toEqual({ license: "bsd" });
});

test("S137 a hundred aliases are followed, and more are refused", async () => {
  const text = card(`a:\n${lines(200, (at) => `- &a${at} 1\n- *a${at}`)}`);
  expect(await parseFrontMatter(text)).toBeNull();
  expect((await checkCard(text, "model")).errors).toEqual(["The front matter has too many aliases."]);
  expect(await parseFrontMatter(card("a: &a [1]\nb: *a"))).toEqual({ a: [1], b: [1] });
});

test("S137 a text whose aliases make it ten times as long is not a card", async () => {
  const large = lines(
    9,
    (at) => `k${at}: &a${at} "${"x".repeat(6_900)}"\nl${at}: [${"*".repeat(9).replaceAll("*", `*a${at} ,`)}]`,
  );
  expect(large.length).toBeLessThan(FRONT_MATTER_MAX_CHARACTERS);
  expect(await parseFrontMatter(card(large))).toBeNull();
  expect((await checkCard(card(large), "model")).errors).toHaveLength(1);
});

test("S137 READMEs with equal front matter are parsed once", async () => {
  const twenty = Array.from({ length: 20 }, (_, at) => parseFrontMatter(`${card("license: mit")}${at}`));
  expect(await Promise.all(twenty)).toEqual(Array(20).fill({ license: "mit" }));
  expect(await parseFrontMatter(card("license: mit"))).toBe(await parseFrontMatter(`${card("license: mit")} more`));
});

test.each([
  [
    "half of a pair of surrogates",
    'title: "\\ud83d"\n"\\udc00": x\ntags: ["\\ud83d"]',
    { title: "\ufffd", "\ufffd": "x", tags: ["\ufffd"] },
  ],
  ["NUL, and text that looks like one", 'title: "a\\0b"\nnote: "\\\\u0000 \\\\ud83d"', { title: "ab", note: "\\u0000 \\ud83d" }],
  ["very deep lists", `a: ${"[".repeat(3_000)}${"]".repeat(3_000)}`, null],
])("S51 S122 a push whose card has %s is recorded", async (_, yaml, stored) => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada, { type: "space", sdk: "node" });
  const sha = await commitTo(repo, ada, { "README.md": card(yaml) });
  expect(await readRepo(repo.id)).toMatchObject({ headSha: sha, card: stored });
});
