import { type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyBudget } from "#core/fair-queue/body-budget.ts";
import { startWorld, type World } from "#core/oauth/testing/world.ts";
import { api } from "../api/app.ts";
import { handleRequest } from "./handle-request.ts";

/** S137, S138: nobody without a token makes the process read a body that does not end. */
let world: World;
beforeAll(async () => {
  world = await startWorld((req, res) => handleRequest(async (_, page) => void page.writeHead(404).end(), req, res));
});
afterAll(() => world.stop());

type Target = { method: string; path: string };

const routes = [
  ...new Map(
    api.routes
      .filter(({ method }) => !["ALL", "GET"].includes(method))
      .map(({ method, path }): [string, Target] => [`${method} ${path}`, { method, path }]),
  ).values(),
];

const fill = (template: string, value: string): string =>
  template.replace(/:type\b(\{[^}]*\})?/g, "models").replace(/:\w+(\{[^}]*\})?/g, value);

const encode = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`;
const encodeEachWord = (path: string): string => path.replace(/(?<=\/)[a-z]/g, encode);
const encodeLastWord = (path: string): string => path.replace(/(?<=\/)[a-z](?=[^/]*$)/, encode);

const PIECE = Buffer.alloc(64 * 1024, " ");
/** This is more than every limit for a caller without a token, plus what the kernel buffers. */
const SENT_MAX = 24 * 1024 * 1024;
const ANSWER_MS = 10_000;

function sendEndless({ method, path }: Target): Promise<number | "closed" | "accepted" | "not answered"> {
  const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
  const req = request(world.origin + path, { method, headers, agent: false });
  const refused = new Promise<number | "closed">((resolve) => {
    req.once("response", (res: IncomingMessage) => resolve(res.statusCode ?? 0));
    req.once("error", () => undefined).once("close", () => resolve("closed"));
  });
  const accepted = new Promise<"accepted">((resolve) => {
    let sent = 0;
    const write = () => {
      sent += PIECE.length;
      if (sent > SENT_MAX) resolve("accepted");
      else if (req.write(PIECE)) setImmediate(write);
      else req.once("drain", write);
    };
    write();
  });
  const late = delay(ANSWER_MS, "not answered" as const, { ref: false });
  return Promise.race([refused, accepted, late]).finally(() => req.destroy());
}

async function acceptedOf(targets: Target[]): Promise<string[]> {
  const left = targets.values();
  const accepted: string[] = [];
  const lane = async () => {
    for (const target of left) {
      const refusal = await sendEndless(target);
      if (!["closed", 400, 401, 403, 404, 413, 415].includes(refusal))
        accepted.push(`${target.method} ${target.path}: ${refusal}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return accepted;
}

describe("S137 S138 a body that does not end is refused early without a token, so it fills no memory", () => {
  test.each([
    ["", (path: string) => fill(path, "a".repeat(24))],
    [", with git-upload-pack in place of each parameter", (path: string) => fill(path, "git-upload-pack")],
    [", with git-receive-pack in place of each parameter", (path: string) => fill(path, "git-receive-pack")],
    [", with each word percent-encoded", (path: string) => encodeEachWord(fill(path, "a".repeat(24)))],
    [", with the last word percent-encoded", (path: string) => encodeLastWord(fill(path, "a".repeat(24)))],
  ])("by every route%s", { timeout: 120_000 }, async (_, pathOf) => {
    expect(routes.length).toBeGreaterThan(80);
    expect(await acceptedOf(routes.map(({ method, path }) => ({ method, path: pathOf(path) })))).toEqual([]);
    await expect.poll(() => bodyBudget.takenBytes).toBe(0);
  });
});
