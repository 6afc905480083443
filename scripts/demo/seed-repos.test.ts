import { afterAll, beforeAll, expect, it } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { anotherSession, from, PASSWORD } from "#core/accounts/testing/people.ts";
import { createUser } from "#core/accounts/users/create-user.ts";
import { listRepos } from "#core/hub/repos/list-repos.ts";
import { startApiWorld } from "../../api/testing/start-api-world.ts";
import type { Notes } from "./notes.ts";
import { sampleRepos } from "./sample-repos.ts";
import { seedRepos } from "./seed-repos.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

it("the sample repositories are made once, with what they are said to be", { timeout: 120_000 }, async () => {
  await createUser(operatorCommand, { username: "mara", email: "mara@example.test", password: PASSWORD }, from);
  const aiko = await createUser(operatorCommand, { username: "aiko", email: "aiko@example.test", password: PASSWORD }, from);
  await createOrganization((await anotherSession(aiko.id)).actor, { name: "tidepool" }, from);
  // Of a demo that was made before there were repositories.
  const made = { password: PASSWORD, people: {}, organizations: {}, members: {}, apps: {} };
  const notes: Notes = { made, save: () => undefined, forget: () => undefined };
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
