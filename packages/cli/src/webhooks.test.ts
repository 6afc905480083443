import type { Scope } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Caller, someCaller } from "../../../api/testing/hub-caller.ts";
import { organizationOf } from "../../../core/accounts/testing/people.ts";
import { unseal } from "../../../core/crypto/seal.ts";
import { db, pool } from "../../../core/db.ts";
import { queueDeliveries } from "../../../core/webhooks/testing/deliveries.ts";
import { startCliWorld, startDeliveries, startReceiver } from "../testing/cli-world.ts";
import { type RunOptions, runCli } from "../testing/run-cli.ts";

/** The expected output is that of existing tools (docs/specification/existing-clients.md#the-command-lines-output). */
let world: Awaited<ReturnType<typeof startCliWorld>>;
let ada: Caller;
beforeAll(async () => {
  world = await startCliWorld();
  ada = await someCaller("webhooks");
});
afterAll(() => world.stop());

const SOON = { timeout: 15_000 };
const HOOK = "https://hooks.example.com/events";

const keyhook = (caller: Caller, argv: string[], options: RunOptions = {}) =>
  runCli(["webhooks", ...argv], {
    ...options,
    env: { KEYHOOK_URL: world.origin, KEYHOOK_TOKEN: caller.accessToken, ...options.env },
  });

async function created(caller: Caller, ...more: string[]): Promise<string> {
  const made = await keyhook(caller, ["create", "--url", HOOK, "--watch", `user:${caller.username}`, "-q", ...more]);
  expect(made, made.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toMatch(/^[0-9a-f]{24}\n$/);
  return made.stdout.trim();
}

describe("commands that change something", () => {
  test("print the words of existing tools in each format", async () => {
    const watch = ["--watch", `user:${ada.username}`];
    const human = await keyhook(ada, ["create", "--url", HOOK, ...watch, "--format", "human"]);
    expect(human.stdout).toMatch(/^Webhook created\nid: [0-9a-f]{24}\n$/);
    const agent = await keyhook(ada, ["create", "--url", HOOK, ...watch]);
    expect(agent.stdout).toMatch(/^id=[0-9a-f]{24}\n$/);
    const json = await keyhook(ada, ["create", "--url", HOOK, ...watch, "--json"]);
    expect(JSON.parse(json.stdout)).toEqual({ id: expect.stringMatching(/^[0-9a-f]{24}$/) });
    const id = await created(ada);
    for (const [command, past] of [
      ["disable", "disabled"],
      ["enable", "enabled"],
    ] as const) {
      expect((await keyhook(ada, [command, id, "--format", "human"])).stdout).toBe(`Webhook ${past}\nid: ${id}\n`);
      expect((await keyhook(ada, [command, id])).stdout).toBe(`id=${id}\n`);
      expect((await keyhook(ada, [command, id, "--json"])).stdout).toBe(`{"id":"${id}"}\n`);
      expect((await keyhook(ada, [command, id, "--quiet"])).stdout).toBe(`${id}\n`);
    }
    const updated = await keyhook(ada, ["update", id, "--url", `${HOOK}/2`, "--format", "human"]);
    expect(updated.stdout).toBe(`Webhook updated\nid: ${id}\n`);
    const deleted = await keyhook(ada, ["delete", id, "--yes", "--format", "human"]);
    expect(deleted.stdout).toBe(`Webhook deleted\nid: ${id}\n`);
    expect((await keyhook(ada, ["info", id])).code).toBe(1);
  });

  test("update changes only the given fields, and the service's URL may stand before the command", async () => {
    const id = await created(ada, "--domain", "discussions");
    const url = ["--url", world.origin];
    const updated = await runCli([...url, "--token", ada.accessToken, "webhooks", "update", id, "--url", `${HOOK}/2`, "--json"]);
    expect(updated, updated.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse((await keyhook(ada, ["info", id])).stdout)).toMatchObject({
      id,
      url: `${HOOK}/2`,
      domains: ["discussion"],
      watched: [{ type: "user", name: ada.username }],
    });
    const nothing = await keyhook(ada, ["update", id]);
    expect(nothing).toMatchObject({ code: 2, stderr: "Error: Specify something to change: --help lists the options.\n" });
  });

  test("a created secret is shown once, in each format", async () => {
    const argv = ["create", "--url", HOOK, "--watch", `user:${ada.username}`, "--generate-secret"];
    expect((await keyhook(ada, [...argv, "--format", "human"])).stdout).toMatch(
      /^Webhook created\nid: \w+\nsecret: whsec_\S+\n$/,
    );
    expect((await keyhook(ada, argv)).stdout).toMatch(/^id=\w+ secret=whsec_\S+\n$/);
    const quiet = await keyhook(ada, [...argv, "-q"]);
    expect([quiet.stdout, quiet.stderr]).toEqual([
      expect.stringMatching(/^\w+\n$/),
      expect.stringMatching(/^secret: whsec_\S+\n$/),
    ]);
    expect((await keyhook(ada, ["info", quiet.stdout.trim()])).stdout).not.toContain("whsec_");
  });

  test("a secret can be read from standard input, so that the list of processes does not show it", async () => {
    const secretOf = async (id: string) => {
      const { secret } = await db().webhook.findUniqueOrThrow({ where: { id } });
      return secret && unseal("webhook secret", secret);
    };
    const made = await keyhook(ada, ["create", "--url", HOOK, "--watch", `user:${ada.username}`, "-q", "--secret", "-"], {
      stdin: "tell nobody\n",
    });
    const id = made.stdout.trim();
    expect(await secretOf(id)).toBe("tell nobody");
    expect((await keyhook(ada, ["update", id, "--secret", "-"], { stdin: "nor them\r\n" })).code).toBe(0);
    expect(await secretOf(id)).toBe("nor them");
    const empty = await keyhook(ada, ["update", id, "--secret", "-"], { stdin: "\n" });
    expect(empty).toMatchObject({ code: 2, stderr: "Error: Standard input contains no secret.\n" });
    const typed = { isTerminal: true, stdin: "typed\n" };
    expect(await keyhook(ada, ["update", id, "--secret", "-"], typed)).toMatchObject({
      code: 0,
      stderr: "The webhook's secret: ",
    });
    expect(await secretOf(id)).toBe("typed");
  });

  test("delete asks for confirmation, and deletes nothing if the answer is no or nobody can be asked", async () => {
    const id = await created(ada);
    const refused = await keyhook(ada, ["delete", id]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("--yes");
    const no = await keyhook(ada, ["delete", id], { isTerminal: true, stdin: "n\n" });
    expect(no).toMatchObject({ code: 1, stderr: expect.stringContaining("Nothing was changed.") });
    expect((await keyhook(ada, ["info", id])).code).toBe(0);
    const json = await keyhook(ada, ["delete", id, "--json"], { isTerminal: true, stdin: "y\n" });
    expect(json.code).toBe(1);
    const yes = await keyhook(ada, ["delete", id], { isTerminal: true, stdin: "y\n" });
    expect([yes.code, yes.stdout]).toEqual([0, `Webhook deleted\nid: ${id}\n`]);
  });
});

describe("commands that read", () => {
  test("ls has the columns of existing tools in each format", async () => {
    const eve = await someCaller("webhooks");
    for (const [format, empty] of [
      ["human", "No results found.\n"],
      ["agent", "No results found.\n"],
      ["json", "[]\n"],
      ["quiet", ""],
    ] as const) {
      expect((await keyhook(eve, ["ls", "--format", format])).stdout).toBe(empty);
    }
    const id = await created(eve);
    const off = await created(eve, "--domain", "repo");
    await keyhook(eve, ["disable", off]);
    const watched = `user:${eve.username}`;
    const human = (await keyhook(eve, ["ls", "--format", "human"])).stdout.split("\n");
    expect(human.map((line) => line.split(/ {2,}/))).toEqual([
      ["ID", "URL", "DISABLED", "DOMAINS", "WATCHED"],
      [id, HOOK, "repo, discussion", watched],
      [off, HOOK, "yes", "repo", watched],
      [""],
    ]);
    expect((await keyhook(eve, ["list"])).stdout).toBe(
      `id\turl\tdisabled\tdomains\twatched\n${id}\t${HOOK}\tfalse\trepo,discussion\t${watched}\n${off}\t${HOOK}\ttrue\trepo\t${watched}\n`,
    );
    expect(JSON.parse((await keyhook(eve, ["ls", "--json"])).stdout)).toEqual([
      { id, url: HOOK, disabled: false, domains: ["repo", "discussion"], watched: [watched] },
      { id: off, url: HOOK, disabled: true, domains: ["repo"], watched: [watched] },
    ]);
    expect((await keyhook(eve, ["ls", "--quiet"])).stdout).toBe(`${id}\n${off}\n`);
  });

  test("ls cuts rows to the terminal's width with a hint, and --no-truncate keeps whole rows", async () => {
    const eve = await someCaller("webhooks");
    await keyhook(eve, ["create", "--url", `${HOOK}/${"a".repeat(200)}`, "--watch", `user:${eve.username}`]);
    const cut = await keyhook(eve, ["ls"], { isTerminal: true, columns: 80 });
    expect(Math.max(...cut.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(cut.stdout).toContain("…");
    expect(cut.stderr).toContain("--no-truncate");
    const whole = await keyhook(eve, ["ls", "--no-truncate"], { isTerminal: true, columns: 80 });
    expect([whole.stdout.includes("a".repeat(200)), whole.stderr]).toEqual([true, ""]);
  });

  test("info is JSON in every format: indented for people, without nulls for programs", async () => {
    const id = await created(ada);
    const [human, agent, json, quiet] = await Promise.all(
      ["human", "agent", "json", "quiet"].map(async (format) => (await keyhook(ada, ["info", id, "--format", format])).stdout),
    );
    expect(human).toMatch(/^\{\n {2}"id": "/);
    expect(agent).toMatch(/^\{"id":"[^\n]+\}\n$/);
    expect([json, quiet]).toEqual([agent, agent]);
    expect(agent).not.toContain("null");
    expect(JSON.parse(human ?? "")).toMatchObject({ id, url: HOOK, hasSecret: false });
  });

  test("--organization selects an organization's webhooks", async () => {
    const organization = await organizationOf(ada);
    const whose = ["--organization", organization.name];
    const made = await keyhook(ada, ["create", "--url", HOOK, "--watch", `org:${organization.name}`, "-q", ...whose]);
    const id = made.stdout.trim();
    expect((await keyhook(ada, ["ls", "-q", ...whose])).stdout).toBe(`${id}\n`);
    expect((await keyhook(ada, ["ls", "-q"])).stdout).not.toContain(id);
    expect((await keyhook(ada, ["delete", id, "-y", ...whose])).code).toBe(0);
  });
});

describe("errors", () => {
  test("wrong input exits with 2, before any request to the service", async () => {
    const watch = ["--watch", `user:${ada.username}`];
    for (const [argv, sentence] of [
      [["create", "--url", HOOK], "--watch"],
      [["create", ...watch], "either --url or --job-id"],
      [["create", "--url", HOOK, "--job-id", "x", ...watch], "either --url or --job-id"],
      [["create", "--url", HOOK, "--watch", "ada"], "type:name"],
      [["create", "--url", HOOK, "--watch", "bucket:ada/x"], "type:name"],
      [["create", "--url", HOOK, ...watch, "--domain", "push"], "repo, discussions"],
      [["ls", "--format", "yaml"], "human"],
      [["ls", "--json", "--quiet"], "one output format"],
      [["lst"], "unknown command"],
      [["info"], "id"],
      [["replay", "x"], "--failed-since"],
      [["activity", "x", "--limit", "0"], "whole number"],
      [["info", ".."], "neither a name nor an ID"],
    ] as const) {
      const ran = await keyhook(ada, [...argv]);
      expect([argv.join(" "), ran.code, ran.stdout]).toEqual([argv.join(" "), 2, ""]);
      expect(ran.stderr).toContain(sentence);
    }
  });

  test("a refusal by the service exits with 1 and one sentence that says what to do", async () => {
    const nothing = await keyhook(ada, ["info", "a".repeat(24)]);
    expect(nothing).toMatchObject({ code: 1, stdout: "" });
    expect(nothing.stderr).toMatch(/^Error: Webhook not found\.[^\n]*\n$/);
    const scopeless = await someCaller("jobs" satisfies Scope);
    expect((await keyhook(scopeless, ["ls"])).stderr).toContain("scope webhooks");
    const unknown = await keyhook({ ...ada, accessToken: "kh_nobodys" }, ["ls"]);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("keyhook login") });
    const local = await keyhook(ada, ["create", "--url", "ftp://x", "--watch", `user:${ada.username}`]);
    expect(local.code).toBe(1);
    const gone = await keyhook(ada, ["ls"], { env: { KEYHOOK_URL: "http://127.0.0.1:9" } });
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining("Check the URL and the network") });
    const nowhere = await runCli(["webhooks", "ls"], { env: { KEYHOOK_TOKEN: "x" } });
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining("KEYHOOK_URL") });
    const nobody = await runCli(["webhooks", "ls"], { env: { KEYHOOK_URL: world.origin } });
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining("keyhook login") });
  });
});

describe("commands for deliveries", () => {
  test("list deliveries, show one, and send one again, with an exit code that shows failures", async () => {
    let status = 500;
    const receiver = await startReceiver(() => status);
    const made = await keyhook(ada, ["create", "--url", receiver.url, "--watch", `user:${ada.username}`, "-q"]);
    const id = made.stdout.trim();
    const [delivery = ""] = await queueDeliveries(id);
    await startDeliveries();
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), SOON);

    const failed = await keyhook(ada, ["test", id, "--event", "discussion.create"]);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("The delivery failed") });
    expect(failed.stdout).toMatch(/^delivery=\w+ outcome=rejected status=500 ms=\d+\n$/);
    status = 200;
    const test = await keyhook(ada, ["test", id, "--json"]);
    expect(JSON.parse(test.stdout)).toMatchObject({ outcome: "delivered", status: 200 });
    expect((await keyhook(ada, ["test", id, "--event", "repo.explode"])).code).toBe(2);

    const replayed = await keyhook(ada, ["replay", id, delivery, "--format", "human"]);
    expect(replayed.stdout).toMatch(/^Delivery sent again\ndelivery: \w+\noutcome: delivered\nstatus: 200\nms: \d+\n$/);
    const listed = await keyhook(ada, ["activity", id, "--format", "human"]);
    expect(listed.stdout.split("\n")[0]?.split(/ {2,}/)).toEqual([
      "ID",
      "CREATED",
      "EVENT",
      "REPO",
      "STATE",
      "ATTEMPTS",
      "STATUS",
      "MS",
    ]);
    expect((await keyhook(ada, ["activity", id, "-q", "--limit", "1"])).stdout).toMatch(/^\w+\n$/);
    expect(
      JSON.parse((await keyhook(ada, ["activity", id, "--json", "--state", "delivered", "--since", "2h"])).stdout),
    ).toHaveLength(2);
    expect(JSON.parse((await keyhook(ada, ["delivery", id, delivery])).stdout)).toMatchObject({
      id: delivery,
      state: "delivered",
    });
  });

  test("send all deliveries again that have failed since a given time, and print the result at the end", async () => {
    const receiver = await startReceiver(() => 200);
    const made = await keyhook(ada, ["create", "--url", receiver.url, "--watch", `user:${ada.username}`, "-q"]);
    const id = made.stdout.trim();
    await queueDeliveries(id, { count: 3 });
    await pool().query("UPDATE delivery SET state = 'failed', finished_at = now() WHERE webhook_id = $1", [id]);
    await pool().query("DELETE FROM delivery_queue WHERE webhook_id = $1", [id]);
    await startDeliveries();
    const ran = await keyhook(ada, ["replay", id, "--failed-since", "1d", "--json"]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    const { total, delivered, failed } = JSON.parse(ran.stdout);
    expect([total, delivered, failed]).toEqual([receiver.received.length, receiver.received.length, 0]);
    expect(total).toBeGreaterThan(0);
    const again = await keyhook(ada, ["replay", id, "--failed-since", "1d"]);
    expect(again).toMatchObject({ code: 1, stdout: "" });
  });

  test("print new deliveries with `activity --follow` until Ctrl-C, which is not a failure", async () => {
    const receiver = await startReceiver();
    const made = await keyhook(ada, ["create", "--url", receiver.url, "--watch", `user:${ada.username}`, "-q"]);
    const id = made.stdout.trim();
    await startDeliveries();
    const interrupt = new AbortController();
    let seen = "";
    const following = keyhook(ada, ["activity", id, "--follow"], {
      signal: interrupt.signal,
      onOutput: (text) => {
        seen += text;
      },
    });
    await keyhook(ada, ["test", id]);
    await vi.waitFor(() => expect(seen).toContain("\tdelivered\t"), SOON);
    interrupt.abort();
    expect((await following).code).toBe(0);
    expect(seen.split("\n")[0]).toBe("id\tcreated\tevent\trepo\tstate\tattempts\tstatus\tms");
  });
});
