import { eventPayloadSchema } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { from, organizationOf, outcomes, signedInPerson } from "../../accounts/testing/people.ts";
import { throttleKey } from "../../accounts/throttle.ts";
import { db } from "../../db.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../testing/repos.ts";
import { createRepo } from "./create-repo.ts";
import { findRepo } from "./find-repo.ts";

describe("createRepo", () => {
  test("makes a repository that takes commits, and each change is one event", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada, { name: "Tide-Tables", type: "dataset" });
    expect(repo).toMatchObject({ fullName: `${ada.username}/Tide-Tables`, headSha: null, isPrivate: false });
    const sha = await commitTo(repo, ada, { "README.md": "---\ntags: [sea, moon]\n---\n# Tides\n", "a b/ü.txt": "hm" });
    await fsck(repo);
    const found = await findRepo(ada.actor, { type: "dataset", owner: ada.username.toUpperCase(), name: "tide-tables" });
    expect(found).toMatchObject({ headSha: sha, tags: ["sea", "moon"], card: { tags: ["sea", "moon"] } });
    const events = await eventsOf(repo);
    expect(events.map(({ scope, action }) => `${scope} ${action}`)).toEqual(["repo create", "repo.content update"]);
    for (const { payload } of events) eventPayloadSchema.parse(payload);
    expect(events[1]?.payload).toMatchObject({
      repo: { name: repo.fullName, headSha: sha, tags: ["sea", "moon"] },
      updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: sha }],
    });
  });

  test("a name is taken once for each type, whatever its letters' case, also when two ask at once", async () => {
    const ada = await signedInPerson();
    await someRepo(ada, { name: "Tide" });
    await someRepo(ada, { name: "tide", type: "space" });
    await expect(someRepo(ada, { name: "TIDE" })).rejects.toMatchObject({ code: "conflict" });
    const asked = [1, 2, 3].map(() => someRepo(ada, { name: "moon" }));
    expect(await outcomes(asked)).toEqual(["conflict", "conflict", "ok"]);
  });

  test("a thousand an hour are enough", async () => {
    const ada = await signedInPerson();
    await someRepo(ada);
    const key = throttleKey("repo_create", ada.id);
    await db().throttle.update({ where: { key }, data: { count: 999 } });
    await someRepo(ada);
    await expect(someRepo(ada)).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: expect.any(Number) });
  });

  test("S135 under an organization for its contributors, and for nobody outside", async () => {
    const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
    const organization = await organizationOf(ada, [
      [bea, "contributor"],
      [cy, "read"],
    ]);
    const make = (person: typeof ada) =>
      createRepo(person.actor, { type: "model", owner: organization.name, name: `by-${person.username}` }, from);
    await expect(make(bea)).resolves.toMatchObject({ createdById: bea.id });
    await expect(make(cy)).rejects.toMatchObject({ code: "forbidden" });
    await expect(make(await signedInPerson("dan"))).rejects.toMatchObject({ code: "forbidden" });
  });
});
