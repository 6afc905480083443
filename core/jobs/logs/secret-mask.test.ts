import { expect, it } from "vitest";
import { MASK, SecretMask } from "./secret-mask.ts";

const masked = (secrets: string[], pieces: string[]) => {
  const mask = new SecretMask(secrets);
  return pieces.map((piece) => mask.push(piece)).join("") + mask.end();
};

it("S134 a secret is masked wherever the pieces of the output are cut", () => {
  const secrets = ["tide-pool", "pool-of-tides", "-of-", "tide", "aaab"];
  const text = "x tide-pool-of-tides y tide-poo tidetide aaaab pool-of-tide";
  const whole = masked(secrets, [text]);
  expect(whole).not.toMatch(/tide-pool|pool-of-tides|tide|aaab/);
  for (let size = 1; size < 12; size++) {
    const pieces = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const got = masked(secrets, pieces);
    for (const secret of secrets) expect(got, `in pieces of ${size}`).not.toContain(secret);
    expect(got.startsWith("x ")).toBe(true);
  }
});

it("S134 so are its lines, and what becomes of it in base64, in an address and in JSON", () => {
  const secret = 'first "line" of it\nsecond line/of+it\n}\n';
  const header = (before: string) => Buffer.from(`${before}${secret}`).toString("base64");
  const forms = [
    secret,
    "second line/of+it",
    encodeURIComponent(secret),
    JSON.stringify(secret),
    header(""),
    header("a:"),
    header("u:"),
  ];
  for (const form of forms) expect(masked([secret], [`<${form}>`]), form).toContain(MASK);
  expect(masked([secret], [header("a:")]).length).toBeLessThan(12);
  expect(masked(["abc", "}"], ["abc } abc"])).toBe("abc } abc");
  expect(masked(["$&.*(", "a|b|c"], ["$&.*( a|b|c a"])).toBe(`${MASK} ${MASK} a`);
  expect(masked([], ["plain"])).toBe("plain");
});

it("S134 what only begins like a secret is shown when it turns out to be something else", () => {
  const mask = new SecretMask(["secret-value"]);
  expect(mask.push("the secret-")).toBe("the ");
  expect(mask.push("agent\n")).toBe("secret-agent\n");
});

it("S134 a secret may be as long as a job's text may be", () => {
  const secret = Array.from({ length: 50_000 }, (_, i) => i.toString(36)).join("");
  expect(masked([secret], [`<${secret.slice(0, 90_000)}`, `${secret.slice(90_000)}>`])).toBe(`<${MASK}>`);
});

it("S134 masking costs no more than the output is long", () => {
  const secrets = Array.from({ length: 50 }, (_, i) => `${"a".repeat(2_000)}${i}`);
  const mask = new SecretMask(secrets);
  const time = (length: number) => {
    const begin = performance.now();
    for (let i = 0; i < 20; i++) mask.push("a".repeat(length));
    return performance.now() - begin;
  };
  time(1_000);
  expect(time(16_000) / Math.max(1, time(4_000))).toBeLessThan(40);
});
