import { expect, it } from "vitest";
import { signedInPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { requestContext } from "../../log.ts";
import { findApp, parseAppTarget } from "../door/find-app.ts";
import { readSpaceRuntime } from "../space-runtime.ts";
import { receiverAddress } from "./change-runtime.ts";
import { WAKES, wakeSpace } from "./wake-space.ts";

it("S137 webhooks wake Spaces of any number of accounts by their receiver URLs", async () => {
  const wakeByWebhook = async () => {
    const repo = await someRepo(await signedInPerson(), { type: "space", isPrivate: true });
    const create = { repoId: repo.id, ownerId: repo.owner.id, stage: "SLEEPING", isWanted: false };
    await db().spaceRuntime.upsert({ where: { repoId: repo.id }, create, update: {} });
    const target = parseAppTarget(new URL(receiverAddress(repo, { receiverGeneration: 0 })).pathname);
    if (!target) throw new Error("no address of an app");
    await requestContext.run({ requestId: "delivery", ip: "127.0.0.1" }, async () => {
      await findApp(target, { method: "POST" });
      await wakeSpace(repo.id);
    });
    return (await readSpaceRuntime(repo.id))?.stage;
  };
  for (let at = 0; at < WAKES.limit + 1; at++) expect(await wakeByWebhook()).toBe("APP_STARTING");
});
