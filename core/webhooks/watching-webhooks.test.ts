import { describe, expect, it } from "vitest";
import { freshName, organizationOf, signedInPerson } from "../accounts/testing/people.ts";
import { db } from "../db.ts";
import { newId } from "../ids.ts";
import { countWatching } from "./count-watching.ts";
import { watchingWebhooks } from "./watching-webhooks.ts";

type Owner = { kind: "user" | "organization"; id: string };

async function webhook(owner: Owner, watched: string, { isDisabled = false } = {}): Promise<string> {
  const id = newId();
  await db().webhook.create({
    data: {
      id,
      ownerId: owner.id,
      ownerKind: owner.kind,
      url: `https://${freshName("hook")}.example.test/`,
      domains: ["repo"],
      disabledAt: isDisabled ? new Date() : null,
      watched: { create: { type: "model", targetId: watched } },
    },
  });
  return id;
}

describe("webhooks watching a repository", () => {
  it("S129 are named to whom they belong, counted for the rest, and left out where they may not be told", async () => {
    const [ada, grace, member] = await Promise.all([signedInPerson("ada"), signedInPerson("grace"), signedInPerson("member")]);
    const organization = await organizationOf(ada, [[member, "write"]]);
    const repo = { id: newId(), owner: { id: organization.id }, isPrivate: false };
    const ofAda = await webhook({ kind: "user", id: ada.id }, repo.id);
    const ofOrganization = await webhook({ kind: "organization", id: organization.id }, organization.id);
    await webhook({ kind: "user", id: grace.id }, repo.id);
    await webhook({ kind: "user", id: ada.id }, repo.id, { isDisabled: true });
    await webhook({ kind: "user", id: ada.id }, newId());

    const seenBy = async (person: typeof ada, isPrivate = false) => {
      const { named, total } = await watchingWebhooks(person.actor, { ...repo, isPrivate });
      return { named: named.map(({ id }) => id), total };
    };
    expect(await seenBy(ada)).toEqual({ named: [ofAda, ofOrganization].sort(), total: 3 });
    expect(await seenBy(member)).toEqual({ named: [], total: 3 });
    expect(await seenBy(ada, true)).toEqual({ named: [ofAda, ofOrganization].sort(), total: 2 });
    expect(await countWatching(repo, "repo")).toBe(3);
    expect(await countWatching({ ...repo, isPrivate: true }, "repo")).toBe(2);
    expect(await countWatching(repo, "discussion")).toBe(0);
  });
});
