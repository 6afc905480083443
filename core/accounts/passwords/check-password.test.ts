import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { requestContext } from "../../log.ts";
import { checkPassword, presentedPassword } from "./check-password.ts";
import { hashPassword, isOutdatedHash, verifyPassword } from "./password-hash.ts";

const names = ["lovelace", "Ada Lovelace", "countess@analytical.example", "ada-7240918356"];

describe("checkPassword", () => {
  test.each([
    "a lantern over the quay",
    "xK9$mQ2p",
    "lovelace builds an engine",
    "пароль надёжный",
    "🔑🔑🔑🗝️🗝️🔐🔏🔒",
    "    spaces    ",
    `${"x".repeat(100)}abcdefghijklmnopqrstuvwxyz`,
  ])("accepts %j unchanged", (password) => {
    expect(checkPassword(password, names)).toBe(password);
  });

  test.each([
    ["too short", "xK9$mQ2"],
    ["too short in characters, not in code units", "🔑🗝️🔐🔏"],
    ["too long", "xK9$".repeat(65)],
    ["common", "password"],
    ["common, decorated", "P4$$w0rd!2026"],
    ["common, with digits around", "123qwertyuiop456"],
    ["common", "iloveyou"],
    ["one character", "aaaaaaaaaaaa"],
    ["few characters", "abababababab"],
    ["a run", "12345678"],
    ["a run backwards", "hgfedcba"],
    ["a date", "19121815"],
    ["the username", "lovelace"],
    ["the username, decorated", "Lovelace1815!"],
    ["the username, mostly digits", "Ada-7240918356"],
    ["the full name", "AdaLovelace"],
    ["the mailbox", "countess1"],
    ["the service's own name", "Keyhook2026"],
    ["not text", "good enough \0"],
    ["not text", "good enough \ud800"],
  ])("refuses a password that is %s: %j", (_why, password) => {
    expect(() => checkPassword(password, names)).toThrow(expect.objectContaining({ code: "invalid_request", field: "password" }));
  });

  test("does not apply to a presented password, which may be weak but not empty", () => {
    expect(presentedPassword("abc")).toBe("abc");
    expect(() => presentedPassword("")).toThrow("Enter the password.");
    expect(() => presentedPassword(undefined, "currentPassword")).toThrow(expect.objectContaining({ field: "currentPassword" }));
  });
});

describe("password hashes", () => {
  test("are argon2id with OWASP's parameters and a salt of their own", async () => {
    const [one, two] = [await hashPassword("a lantern over the quay"), await hashPassword("a lantern over the quay")];
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
    expect(isOutdatedHash(one)).toBe(false);
    expect(isOutdatedHash(one.replace("t=2", "t=1"))).toBe(true);
  });

  test("match the same password typed on another keyboard", async () => {
    const composed = await hashPassword("Grüße aus Köln");
    expect(await verifyPassword(composed, "Gru\u0308ße aus Ko\u0308ln", "ada")).toBe(true);
    expect(await verifyPassword(composed, "Grüße aus Koln", "ada")).toBe(false);
  });

  test("match no password if there is no hash", async () => {
    for (const none of [null, undefined, ""]) expect(await verifyPassword(none, "a lantern over the quay", "ada")).toBe(false);
  });
});

const STARVED = `
  const { openSync, closeSync } = await import("node:fs");
  const { verifyPassword } = await import(process.argv[1]);
  const taken = [];
  try { for (;;) taken.push(openSync("/dev/null")); } catch {}
  const refused = await verifyPassword(null, "a lantern", "ada").catch(({ code }) => code);
  for (const one of taken) closeSync(one);
  const later = await verifyPassword(null, "a lantern", "ada").catch(String);
  console.log(JSON.stringify([refused, later]));
`;

test("S137 too many open files at one moment do not prevent later sign-ins", () => {
  const module = new URL("./password-hash.ts", import.meta.url).href;
  const command = 'ulimit -n 128; exec "$0" --input-type=module -e "$1" "$2"';
  const { stdout } = spawnSync("sh", ["-c", command, process.execPath, STARVED, module], { encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual(["unavailable", false]);
});

const NICE = `
  const { readdirSync, readFileSync } = await import("node:fs");
  const { hashPassword } = await import(process.argv[1]);
  const hash = await hashPassword("a lantern");
  const niceness = (thread) => Number(readFileSync("/proc/self/task/" + thread + "/stat", "latin1").replace(/.*[)] /s, "").split(" ")[16]);
  console.log(hash.slice(0, 9), Math.min(...readdirSync("/proc/self/task").map(niceness)));
`;

test.runIf(process.platform === "linux")("passwords are hashed even if the service was started with a low priority", () => {
  const module = new URL("./password-hash.ts", import.meta.url).href;
  const node = [process.execPath, "--input-type=module", "--eval", NICE, module];
  expect(spawnSync("nice", ["-n", "19", ...node], { encoding: "utf8" }).stdout).toBe("$argon2id 19\n");
});

test.each([
  ["from elsewhere", "198.51.100.1"],
  ["from the same network", "192.0.2.1"],
])("S137 many sign-ins by one account do not delay another account's sign-in %s", async (_, ip) => {
  const passwordHash = await hashPassword("a lantern over the quay");
  let finished = 0;
  const attempt = (login: string, from: string) =>
    requestContext.run({ requestId: "test", ip: from }, async () => {
      expect(await verifyPassword(passwordHash, "a lantern over the quay", login)).toBe(true);
      return ++finished;
    });
  const attack = Array.from({ length: 40 }, () => attempt("mallory", "192.0.2.1"));
  expect(await attempt("ada", ip)).toBeLessThan(20);
  await Promise.all(attack);
});
