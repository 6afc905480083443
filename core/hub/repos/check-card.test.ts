import { expect, test } from "vitest";
import { checkCard } from "./check-card.ts";
import { parseFrontMatter } from "./read-card.ts";

const card = (yaml: string): string => `---\n${yaml}\n---\n# Tides\n`;
const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");

test("What is wrong is said with its place; a name that is given twice is wrong", () => {
  expect(checkCard(card("license: mit\ntags: [a, b"), "model").errors[0]).toMatch(/at line \d+, column \d+$/);
  expect(checkCard(card("license: mit\nlicense: bsd"), "model").errors).toEqual(["Map keys must be unique at line 2, column 1"]);
  expect(checkCard(card("license: mit"), "model")).toEqual({ errors: [], warnings: [] });
});

// Each of these took the parser ten seconds and more, in which nobody else was answered.
const BOMBS = {
  "a great many names": card(lines(60_000, (at) => `k${at}:`)),
  "a great many aliases": card(`a:\n${lines(20_000, (at) => `- &a${at} 1\n- *a${at}`)}`),
  "a great many anchors": card(`a: ${"&a ".repeat(100_000)}`),
  "a great many errors": card(":\n".repeat(200_000)),
  "fewer names, in fewer characters": card(lines(8_000, (at) => `k${at}:`)),
  "fewer anchors, in fewer characters": card(`a: ${"&a ".repeat(20_000)}`),
};

test.for(Object.entries(BOMBS))("S137: front matter of %s keeps nobody waiting", ([, text]) => {
  const start = process.cpuUsage();
  checkCard(text, "model");
  parseFrontMatter(text);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1e6).toBeLessThan(2.5);
});

test("S137: more aliases than anybody writes are not followed", () => {
  const text = card(`a:\n${lines(200, (at) => `- &a${at} 1\n- *a${at}`)}`);
  expect(parseFrontMatter(text)).toBeNull();
  expect(checkCard(text, "model").errors).toEqual(["The front matter repeats itself too often (aliases)."]);
  expect(parseFrontMatter(card("a: &a [1]\nb: *a"))).toEqual({ a: [1], b: [1] });
});
