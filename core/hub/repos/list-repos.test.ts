import { describe, expect, test } from "vitest";
import { anonymous, operatorCommand } from "../../access/actor.ts";
import { freshName, from, organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { disableUser, enableUser } from "../../accounts/users/disable-user.ts";
import { db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { queueForLock } from "../../testing/as-owner.ts";
import { someRepo } from "../testing/repos.ts";
import { listRepos, type RepoList, type RepoQuery } from "./list-repos.ts";

const names = async (actor: Parameters<typeof listRepos>[0], query: RepoQuery) =>
  (await listRepos(actor, query)).repos.map(({ name }) => name);

describe("listRepos", () => {
  test("S136 returns private repositories only to users who may read them", async () => {
    const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
    const organization = await organizationOf(ada, [[bea, "read"]]);
    await someRepo(ada, { name: "own-private", isPrivate: true });
    await someRepo(ada, { name: "own-public" });
    await someRepo(ada, { owner: organization.name, name: "org-private", isPrivate: true });
    await someRepo(ada, { owner: organization.name, name: "org-public", type: "dataset" });
    const seen = async (actor: Parameters<typeof listRepos>[0]) => [
      ...(await names(actor, { owner: ada.username, sort: "created", isOldestFirst: true })),
      ...(await names(actor, { owner: organization.name, sort: "created", isOldestFirst: true })),
    ];
    const all = ["own-private", "own-public", "org-private", "org-public"];
    expect(await seen(ada.actor)).toEqual(all);
    expect(await seen(operatorCommand)).toEqual(all);
    expect(await seen(bea.actor)).toEqual(["own-public", "org-private", "org-public"]);
    for (const actor of [cy.actor, anonymous]) expect(await seen(actor)).toEqual(["own-public", "org-public"]);
    expect(await names(ada.actor, { owner: organization.name, type: "dataset" })).toEqual(["org-public"]);
    expect(await names(ada.actor, { owner: freshName("nobody") })).toEqual([]);
    await disableUser(operatorCommand, ada.id, from);
    expect(await names(anonymous, { owner: ada.username })).toEqual([]);
    expect(await names(bea.actor, { owner: organization.name })).toHaveLength(2);
    await enableUser(operatorCommand, ada.id, from);
    expect(await names(anonymous, { owner: ada.username })).toEqual(["own-public"]);
  });

  test("returns each repository once, on pages in both directions", async () => {
    const ada = await signedInPerson();
    for (let made = 0; made < 13; made++) {
      await someRepo(ada, { name: `r${made}`, isPrivate: made % 3 === 0, type: made % 2 === 0 ? "model" : "space" });
    }
    await db().repo.updateMany({ where: { ownerId: ada.id, isPrivate: true }, data: { updatedAt: new Date(1_000_000) } });
    for (const sort of ["updated", "created"] as const) {
      for (const isOldestFirst of [false, true]) {
        const query = { owner: ada.username, sort, isOldestFirst };
        const whole = await names(ada.actor, query);
        expect(new Set(whole).size).toBe(13);
        const paged: string[] = [];
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = await listRepos(ada.actor, { ...query, limit: 4, ...(cursor && { cursor }) });
          paged.push(...page.repos.map(({ name }) => name));
          cursor = page.nextCursor;
        }
        expect(paged).toEqual(whole);
      }
    }
  });

  test("S137 ends a page whose cards have a megabyte", async () => {
    const ada = await signedInPerson();
    const made: string[] = [];
    for (let each = 0; each < 5; each++) made.push((await someRepo(ada, { name: `r${each}` })).name);
    const card = { text: "x".repeat(400_000) };
    await db().repo.updateMany({ where: { ownerId: ada.id }, data: { card } });
    const query: RepoQuery = { owner: ada.username, sort: "created", isOldestFirst: true, limit: 1_000 };
    const pages: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await listRepos(anonymous, { ...query, ...(cursor && { cursor }) });
      expect(page.repos[0]?.card).toEqual(card);
      pages.push(page.repos.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(pages).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4)]);
    await db().repo.updateMany({ where: { ownerId: ada.id }, data: { card: { text: "x".repeat(2_000_000) } } });
    expect((await listRepos(anonymous, query)).repos).toHaveLength(1);
    // A repository on another platform has tags without a card.
    const tags = Array.from({ length: 3_000 }, (_, at) => `${at} ${"x".repeat(130)}`);
    await db().repo.updateMany({ where: { ownerId: ada.id }, data: { card: Prisma.DbNull, tags } });
    expect((await listRepos(anonymous, query)).repos).toHaveLength(2);
  });

  test("S137 leads to the next page even if all repositories of a page are deleted meanwhile", async () => {
    const ada = await signedInPerson();
    const word = freshName("gone");
    for (let made = 0; made < 5; made++) await someRepo(ada, { name: `${word}-${made}` });
    const query: RepoQuery = { search: word, sort: "created", isOldestFirst: true, limit: 2 };
    // The rows and their owners' names are read after the IDs of a page.
    const gone = `LOCK TABLE organization IN ACCESS EXCLUSIVE MODE; DELETE FROM repo WHERE name IN ('${word}-0', '${word}-1')`;
    const [page] = await queueForLock(gone, [() => listRepos(anonymous, query)]);
    const { repos, nextCursor } = (await page) as RepoList;
    expect(repos).toEqual([]);
    expect(await names(anonymous, { ...query, cursor: nextCursor ?? "" })).toEqual([`${word}-2`, `${word}-3`]);
  });

  test("finds by a part of the name, by owner and by tag", async () => {
    const ada = await signedInPerson();
    for (const name of ["Tide-Tables", "low_tide", "moon", "___sun", "a___b"]) await someRepo(ada, { name });
    await db().repo.updateMany({ where: { ownerId: ada.id, name: "moon" }, data: { tags: ["sea", "night"] } });
    const found = async (query: RepoQuery) => (await names(ada.actor, { owner: ada.username, ...query })).sort();
    expect(await found({ search: "TIDE" })).toEqual(["Tide-Tables", "low_tide"]);
    expect(await found({ search: "tide low" })).toEqual(["low_tide"]);
    expect(await found({ search: "ti" })).toEqual(["Tide-Tables"]);
    expect(await found({ search: "w_t" })).toEqual(["low_tide"]);
    // The index has only letters and digits. Other characters would mean reading all names (S137).
    expect(await found({ search: "___" })).toEqual(["___sun"]);
    expect(await found({ search: "e_t" })).toEqual([]);
    expect(await found({ search: "%%%" })).toEqual([]);
    expect(await found({ search: `${ada.username}/tid` })).toEqual(["Tide-Tables", "low_tide"]);
    expect(await found({ search: `${freshName("other")}/tid` })).toEqual([]);
    expect(await found({ tags: ["sea"] })).toEqual(["moon"]);
    expect(await found({ tags: ["sea", "night"] })).toEqual(["moon"]);
    expect(await found({ tags: ["sea", "day"] })).toEqual([]);
  });

  test("S138 limits the query", async () => {
    const ada = await signedInPerson();
    await someRepo(ada);
    for (const limit of [0, -1, Number.NaN, 1e12, 0.5]) {
      expect(await names(ada.actor, { owner: ada.username, limit })).toHaveLength(1);
    }
    for (const cursor of ["", "x", "\0", "x".repeat(100_000), Buffer.from("1.zz").toString("base64url"), "🌊"]) {
      await expect(listRepos(ada.actor, { cursor })).rejects.toMatchObject({ code: "invalid_request", field: "cursor" });
    }
    for (const bad of ["\0", "\ud800", "x".repeat(20_000)]) {
      await expect(listRepos(ada.actor, { search: bad })).rejects.toMatchObject({ code: "invalid_request" });
      await expect(listRepos(ada.actor, { owner: bad })).rejects.toMatchObject({ code: "invalid_request" });
      await expect(listRepos(ada.actor, { tags: [bad] })).rejects.toMatchObject({ code: "invalid_request" });
    }
  });
});
