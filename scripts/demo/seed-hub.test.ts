import { eventPayloadSchema } from "@keyhook/sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { anotherSession, from, PASSWORD, userWithPassword } from "#core/accounts/testing/people.ts";
import { sealAuditEvents } from "#core/audit/chain/seal-audit-events.ts";
import { verifyAuditChain } from "#core/audit/chain/verify-audit-chain.ts";
import { db } from "#core/db.ts";
import { env, provideSettings } from "#core/env.ts";
import { listRepos } from "#core/hub/repos/list-repos.ts";
import { readChart } from "#core/webhooks/activity/read-chart.ts";
import { startApiWorld } from "../../api/testing/start-api-world.ts";
import { Notes } from "./describe-demo.ts";
import { seedHistory } from "./history/seed-history.ts";
import { sampleRepos } from "./sample-repos.ts";
import { operator, organizations, people } from "./samples.ts";
import { seedRepos, seedSpace, seedWebhooks } from "./seed-hub.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,::1" });
  world = await startApiWorld();
  for (const { username, email } of [...people, operator]) {
    const { id } = await userWithPassword({ username, email, password: PASSWORD }, from);
    for (const { name, owner } of organizations) {
      if (owner === username) await createOrganization((await anotherSession(id)).actor, { name }, from);
    }
  }
});
afterAll(() => world.stop());

it("the sample repositories are created once, with the described content", { timeout: 120_000 }, async () => {
  const notes = new Notes(env().DATA_DIR);
  await seedRepos(notes, world.origin);
  await seedRepos(notes, world.origin);
  const { repos } = await listRepos(operatorCommand, {});
  expect(repos.map(({ type, fullName, isPrivate }) => ({ type, fullName, isPrivate })).reverse()).toEqual(
    sampleRepos.map(({ type, owner, name, isPrivate = false }) => ({ type, fullName: `${owner}/${name}`, isPrivate })),
  );
  for (const { headSha, tags, description } of repos) {
    expect(headSha).not.toBeNull();
    expect(tags).toContain("tides");
    expect(description).not.toBeNull();
  }
  expect(repos.find(({ name }) => name === "storm-surges")?.gated).toBe("manual");
});

it("the sample webhooks, and the Space that receives one of them, are created once", { timeout: 120_000 }, async () => {
  const notes = new Notes(env().DATA_DIR);
  for (let run = 0; run < 2; run++) {
    await seedWebhooks(notes, world.origin, "http://127.0.0.1:3004");
    await seedSpace(notes, world.origin);
  }
  const webhooks = await db().webhook.findMany({ select: { url: true } });
  expect(webhooks.map(({ url }) => url?.replace(world.origin, "")).sort()).toEqual([
    "/spaces/mara/post-box/app/",
    "http://127.0.0.1:3004/webhooks/maintenance",
    "http://127.0.0.1:3004/webhooks/onChange",
  ]);
  const { repos } = await listRepos(operatorCommand, { search: "post-box" });
  expect(repos).toMatchObject([{ type: "space", fullName: "mara/post-box", headSha: expect.any(String) }]);
});

it("the history has a month of deliveries by the service's own rules, and a valid chain of the audit log", async () => {
  const mara = { username: "mara" };
  await db().user.updateMany({ where: mara, data: { email: "mara@elsewhere.test" } });
  await expect(seedHistory()).rejects.toThrow("does not have the samples' people");
  expect(await db().attempt.count()).toBe(0);
  await db().user.updateMany({ where: mara, data: { email: "mara@example.test" } });
  await seedHistory();
  const { id } = await db().webhook.findFirstOrThrow({ where: { name: "Tide watch" } });
  const { bars, delivered, failed } = await readChart(operatorCommand, id, "30d");
  expect(bars.filter((bar) => bar.delivered > 0).length).toBeGreaterThan(25);
  expect(delivered).toBeGreaterThan(7 * failed);
  expect(failed).toBeGreaterThan(0);
  const attempts = await db().attempt.groupBy({ by: ["outcome"], _count: true });
  expect(attempts.map(({ outcome }) => outcome).sort()).toEqual(["delivered", "rejected", "unreachable"]);

  const [delivery] = await db().delivery.findMany({ where: { webhookId: id, state: "failed" }, take: 1 });
  const tries = await db().attempt.findMany({ where: { deliveryId: delivery?.id ?? "" }, orderBy: { number: "asc" } });
  expect(tries.map(({ kind }) => kind)).toEqual(["first", ...Array(9).fill("retry")]);
  const { payload } = await db().event.findUniqueOrThrow({ where: { id: delivery?.eventId ?? "" } });
  expect(eventPayloadSchema.parse(payload).repo.name).toBe(delivery?.repoName);

  while ((await sealAuditEvents({ isWaiting: true })).isMore);
  expect(await verifyAuditChain()).toMatchObject({ flaw: undefined, unsealed: 0 });
});
