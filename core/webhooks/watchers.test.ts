import { describe, expect, it } from "vitest";
import { freshName, organizationOf, signedInPerson } from "../accounts/testing/people.ts";
import { db } from "../db.ts";
import { newId } from "../ids.ts";
import { watchingWebhooks, webhooksTriggered } from "./watchers.ts";

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
      watched: { create: { type: "model", watchedId: watched } },
    },
  });
  return id;
}

describe("webhooks watching a repository", () => {
  it("S129 are named for their owners, counted for others, and left out if they may not receive the event", async () => {
    const [ada, grace, member] = await Promise.all([signedInPerson("ada"), signedInPerson("grace"), signedInPerson("member")]);
    const organization = await organizationOf(ada, [[member, "write"]]);
    const repo = { id: newId(), owner: { id: organization.id }, isPrivate: false };
    const ofAda = await webhook({ kind: "user", id: ada.id }, repo.id);
    const ofOrganization = await webhook({ kind: "organization", id: organization.id }, organization.id);
    await webhook({ kind: "user", id: grace.id }, repo.id);
    await webhook({ kind: "user", id: ada.id }, repo.id, { isDisabled: true });
    await webhook({ kind: "user", id: ada.id }, newId());

    const seenBy = async (person: typeof ada, isPrivate = false) => {
      const { named, others } = await watchingWebhooks(person.actor, { ...repo, isPrivate });
      return { named: named.map(({ id }) => id), others };
    };
    expect(await seenBy(ada)).toEqual({ named: [ofAda, ofOrganization].sort(), others: "1" });
    expect(await seenBy(member)).toEqual({ named: [], others: "3" });
    expect(await seenBy(ada, true)).toEqual({ named: [ofAda, ofOrganization].sort(), others: undefined });
    expect(await webhooksTriggered(repo)).toBe("3 webhooks triggered");
    expect(await webhooksTriggered({ ...repo, isPrivate: true })).toBe("2 webhooks triggered");
    await db().webhook.update({ where: { id: ofAda }, data: { events: ["repo.create"] } });
    expect(await webhooksTriggered(repo)).toBe("2 webhooks triggered");
  });

  it("S137 are counted up to a thousand, and an owner still finds their own", async () => {
    const ada = await signedInPerson("ada");
    const repo = { id: newId(), owner: { id: newId() }, isPrivate: false };
    const of = (ownerId: string) => ({
      id: newId(),
      ownerId,
      ownerKind: "user",
      url: "https://hook.example.test/",
      domains: ["repo"],
    });
    const crowd = Array.from({ length: 1_005 }, () => of(ada.id));
    await db().webhook.createMany({ data: crowd });
    await db().webhookWatch.createMany({ data: crowd.map(({ id }) => ({ webhookId: id, type: "model", watchedId: repo.id })) });
    const grace = await signedInPerson("grace");
    const own = await webhook({ kind: "user", id: grace.id }, repo.id);
    const { named, others } = await watchingWebhooks(grace.actor, repo);
    expect(named.map(({ id }) => id)).toEqual([own]);
    expect(others).toMatch(/^(999|1,000)\+$/);
    expect(await webhooksTriggered(repo)).toBe("1,000+ webhooks triggered");
    await db().webhook.updateMany({ where: { ownerId: ada.id }, data: { disabledAt: new Date() } });
    expect((await watchingWebhooks(grace.actor, repo)).named.map(({ id }) => id)).toEqual([own]);
  });
});
