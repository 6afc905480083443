import pg from "pg";
import { expect, test } from "vitest";
import { anonymous } from "../access/actor.ts";
import { findOwner } from "../accounts/handles/find-owner.ts";
import { organizationOf, signedInPerson } from "../accounts/testing/people.ts";
import { databaseUrl } from "../env.ts";
import { listCollections } from "../hub/collections/list-collections.ts";
import { listDiscussions } from "../hub/discussions/find-discussion.ts";
import { listRepos } from "../hub/repos/list-repos.ts";
import { someRepo } from "../hub/testing/repos.ts";
import { requestContext } from "../log.ts";
import { listOrganizationApps } from "../oauth/app-policy/list-organization-apps.ts";

const ADDRESSES = 16;

const fromAddress = (ip: string, work: () => Promise<unknown>): Promise<unknown> =>
  requestContext.run({ requestId: ip, ip }, work);

async function searches() {
  const ada = await signedInPerson();
  const { type, owner, name } = await someRepo(ada);
  const { id } = await organizationOf(ada);
  return {
    collection: () => listCollections(anonymous, { owners: [ada.username], text: "tide" }),
    discussion: () => listDiscussions(anonymous, { type, owner: owner.handle, name }, { search: "tide" }),
    repo: () => listRepos(anonymous, { search: "tide" }),
    organization_app: () => listOrganizationApps(ada.actor, id, { text: "tide" }),
  };
}

async function lock(table: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl() });
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${table}`);
  return client;
}

test.each(["collection", "discussion", "repo", "organization_app"] as const)(
  "S137 searches that wait for the table %s are cancelled, and leave connections to others",
  async (table) => {
    const search = (await searches())[table];
    const locked = await lock(table);
    const searching = Array.from({ length: ADDRESSES }, (_, i) => fromAddress(`192.0.${i}.1`, search));
    const ended = Promise.allSettled(searching);
    try {
      expect(await fromAddress("203.0.113.9", () => findOwner("nobody-of-that-name"))).toBeUndefined();
      await expect(Promise.race(searching)).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringContaining("The search took too long"),
      });
    } finally {
      await locked.end();
    }
    expect((await ended).some(({ status }) => status === "fulfilled")).toBe(true);
  },
);
