import { randomBytes, randomInt } from "node:crypto";
import { expect, it } from "vitest";
import { MASK, SecretMask } from "./secret-mask.ts";
import { SecretWindows } from "./secret-windows.ts";

const share = { take: async <T>(work: () => T) => work() };
const maskOf = async (secrets: string[]) => new SecretMask(await SecretWindows.of(secrets, share));

const masked = async (secrets: string[], pieces: string[]) => {
  const mask = await maskOf(secrets);
  return pieces.map((piece) => mask.push(piece)).join("") + mask.end();
};

it("S134 a secret is masked wherever the pieces of the output are cut", async () => {
  const secrets = ["tide-pool", "pool-of-tides", "-of-", "tide", "aaab"];
  const text = "x tide-pool-of-tides y tide-poo tidetide aaaab pool-of-tide";
  const whole = await masked(secrets, [text]);
  expect(whole).not.toMatch(/tide-pool|pool-of-tides|tide|aaab/);
  for (let size = 1; size < 12; size++) {
    const pieces = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const got = await masked(secrets, pieces);
    for (const secret of secrets) expect(got, `in pieces of ${size}`).not.toContain(secret);
    expect(got.startsWith("x ")).toBe(true);
  }
});

it("S134 the lines of a secret, and its base64, URL and JSON encodings, are masked", async () => {
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
  for (const form of forms) expect(await masked([secret], [`<${form}>`]), form).toContain(MASK);
  expect((await masked([secret], [header("a:")])).length).toBeLessThan(12);
  expect(await masked(["abc", "}"], ["abc } abc"])).toBe("abc } abc");
  expect(await masked(["$&.*(", "a|b|c"], ["$&.*( a|b|c a"])).toBe(`${MASK} ${MASK} a`);
  expect(await masked([], ["plain"])).toBe("plain");
});

it("S134 every encoding of a secret in URLs, forms, JSON and hexadecimal digits is masked", async () => {
  const secret = "Ünter (den) 'Linden'/5? <b> & *!~";
  const component = encodeURIComponent(secret);
  const hex = Buffer.from(secret).toString("hex");
  const withPassword = new URL("http://ada@localhost");
  withPassword.password = secret;
  const forms = {
    "in lower case": component.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    "by Python's quote": "%C3%9Cnter%20%28den%29%20%27Linden%27/5%3F%20%3Cb%3E%20%26%20%2A%21~",
    "by Python's quote_plus": "%C3%9Cnter+%28den%29+%27Linden%27%2F5%3F+%3Cb%3E+%26+%2A%21~",
    "by URLSearchParams": new URLSearchParams({ a: secret }).toString().slice(2),
    "of forms in lower case": "%c3%9cnter+%28den%29+%27Linden%27%2f5%3f+%3cb%3e+%26+%2a%21~",
    "in an address": withPassword.href.slice("http://ada:".length, -"@localhost/".length),
    "by JSON.stringify": JSON.stringify(secret).slice(1, -1),
    "by Python's json": "\\u00dcnter (den) 'Linden'/5? <b> & *!~",
    "by Jackson": "\\u00DCnter (den) 'Linden'/5? <b> & *!~",
    "by PHP": "\\u00dcnter (den) 'Linden'\\/5? <b> & *!~",
    "by Go": "Ünter (den) 'Linden'/5? \\u003cb\\u003e \\u0026 *!~",
    "by xxd -p": (hex.match(/.{1,60}/g) ?? []).join("\n"),
    "as capital digits": hex.toUpperCase(),
  };
  for (const [by, form] of Object.entries(forms)) {
    expect((await masked([secret], [`<${form}>`])).replace(`${MASK}\n`, ""), `${by}: ${form}`).toBe(`<${MASK}>`);
    expect(await masked([`a line\n${secret}\n`], [`<${form}>`]), `a line ${by}: ${form}`).toContain(MASK);
  }
  const short = Buffer.from("7 bytes").toString("hex");
  expect(await masked(["7 bytes"], [short])).toBe(short);
});

it.each([76, 64])("S134 the base64 of a secret is masked if a program breaks its lines at %i columns", async (columns) => {
  for (const length of [400, 57, 58, 1_000]) {
    const secret = randomBytes(length)
      .toString("latin1")
      .replaceAll(/[\r\n]/g, "x")
      .padEnd(length, "x");
    const lines =
      Buffer.from(`${secret}\n`)
        .toString("base64")
        .match(new RegExp(`.{1,${columns}}`, "g")) ?? [];
    const shown = await masked([secret], [`${lines.join("\n")}\n`]);
    const left = shown.replaceAll(MASK, "").replaceAll("\n", "");
    expect(left.length, `${length} bytes`).toBeLessThan(12);
  }
});

it("S134 text that only begins like a secret is shown as soon as it differs", async () => {
  const mask = await maskOf(["secret-value"]);
  expect(mask.push("the secret-")).toBe("the ");
  expect(mask.push("agent\n")).toBe("secret-agent\n");
});

it("S134 the end of a line is not delayed by a secret of many lines", async () => {
  const secret = Array.from({ length: 40 }, () => randomBytes(24).toString("base64")).join("\n");
  for (let before = 0; before < 65; before++) {
    const value = `${"-".repeat(before)}${secret}`;
    const mask = await maskOf([value]);
    expect(mask.push("a line\n")).toBe("a line\n");
    expect(mask.push(value) + mask.end()).toBe(MASK);
  }
});

it("S134 a secret longer than the maximum is masked", async () => {
  const secret = Array.from({ length: 50_000 }, (_, i) => i.toString(36)).join("");
  expect(await masked([secret], [`<${secret.slice(0, 90_000)}`, `${secret.slice(90_000)}>`])).toBe(`<${MASK}>`);
});

it("S134 the time for masking grows in proportion to the length of the output", async () => {
  const secrets = Array.from({ length: 50 }, (_, i) => `${"a".repeat(2_000)}${i}`);
  const mask = await maskOf(secrets);
  const time = (length: number) => {
    const begin = performance.now();
    for (let i = 0; i < 20; i++) mask.push("a".repeat(length));
    return performance.now() - begin;
  };
  time(1_000);
  let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let each = 0; each < 5; each++) {
    short = Math.min(short, time(4_000));
    long = Math.min(long, time(16_000));
  }
  expect(long / short).toBeLessThan(12); // quadratic growth would make it 16
});

it("S134 masking seven times as many lines of secrets costs less than four times as much", async () => {
  const lines = Array.from({ length: 87_000 }, (_, i) => (46_656 + i * 17).toString(36)).filter(({ length }) => length === 4);
  const secrets = Array.from({ length: 14 }, (_, at) => lines.slice(at * 6_500, (at + 1) * 6_500).join("\n"));
  const [many, few] = [await maskOf(secrets), await maskOf(secrets.slice(0, 2))];
  const output = `${lines.slice(0, 13_000).join(" ")}\n`;
  const times = { many: Number.POSITIVE_INFINITY, few: Number.POSITIVE_INFINITY };
  const time = (of: keyof typeof times, mask: SecretMask) => {
    const begin = performance.now();
    expect(mask.push(output)).toMatch(/^(\*\*\* )+\*\*\*\n$/);
    times[of] = Math.min(times[of], performance.now() - begin);
  };
  for (let each = 0; each < 5; each++) {
    time("few", few);
    time("many", many);
  }
  expect(times.many).toBeLessThan(4 * times.few);
});

it("S132 a long list of secrets to search for is built in turns with other work", async () => {
  const secrets = Array.from({ length: 16 }, () => randomBytes(24_000).toString("base64"));
  let turns = 0;
  await SecretWindows.of(secrets, {
    take: (work) => {
      turns++;
      return share.take(work);
    },
  });
  expect(turns).toBeGreaterThan(10);
});

it("S134 each part of a long secret is masked, in whatever pieces it is printed", async () => {
  const secret = randomBytes(900).toString("base64url");
  const forms = [
    secret,
    Buffer.from(`u:${secret}`).toString("base64"),
    JSON.stringify(`"${secret}`),
    encodeURIComponent(`=${secret}`),
  ];
  for (const form of forms) {
    for (const size of [1, 7, 63, 64, 65, 500]) {
      const got = await masked(
        [secret, `"${secret}`],
        [...("before ".match(/./g) ?? []), ...(form.match(new RegExp(`.{1,${size}}`, "g")) ?? []), " after"],
      );
      expect(got, `${form.slice(0, 5)} in pieces of ${size}`).toMatch(/^before .{0,5}\*\*\*.{0,5} after$/);
    }
  }
});

it("S134 masks exactly what a search for each form at each position finds", async () => {
  for (let round = 0; round < 300; round++) {
    const draw = (length: number) => Array.from({ length }, () => "ab"[randomInt(2)]).join("");
    const secrets = Array.from({ length: 1 + randomInt(4) }, () => draw(4 + randomInt(4)));
    const text = draw(60);
    const hidden = [...text].map((_, at) =>
      secrets.some((secret) => {
        for (let from = Math.max(0, at - secret.length + 1); from <= at; from++) if (text.startsWith(secret, from)) return true;
        return false;
      }),
    );
    const expected = [...text].map((character, at) => (hidden[at] ? (hidden[at - 1] ? "" : MASK) : character)).join("");
    expect(await masked(secrets, text.match(/.{1,9}/g) ?? []), `${secrets} in ${text}`).toBe(expected);
  }
});
