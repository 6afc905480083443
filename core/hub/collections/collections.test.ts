import { describe, expect, test } from "vitest";
import { anonymous, operatorCommand, type TokenHolder } from "../../access/actor.ts";
import { auditTrail, from, organizationOf, outcomes, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { throttleKey } from "../../accounts/throttle.ts";
import { disableUser } from "../../accounts/users/disable-user.ts";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { deadlock, queueForLock } from "../../testing/as-owner.ts";
import type { Repo } from "../repos/repo.ts";
import { eventsOf, someRepo } from "../testing/repos.ts";
import { createCollection, deleteCollection, type NewCollection, updateCollection } from "./change-collections.ts";
import { type Collection, idInSlug, slugOf } from "./collection.ts";
import { findCollection } from "./find-collection.ts";
import { addItem, readItemsOf, removeItem, updateItem } from "./items.ts";
import { LISTED_MAX, listCollections } from "./list-collections.ts";

async function someCollection(person: TestPerson, input: Partial<NewCollection> = {}): Promise<Collection> {
  const made = await createCollection(person.actor, { owner: person.username, title: "Tides & Moons", ...input }, from);
  expect(made.outcome).toBe("created");
  return made.collection;
}

const nameOf = ({ type, owner, name }: Repo) => ({ type, owner: owner.handle, name });
const put = (person: TestPerson, { id }: Collection, repo: Repo, note?: string) =>
  addItem(person.actor, id, { repo: nameOf(repo), ...(note && { note }) });
const namesSeen = async (person: TestPerson | typeof anonymous, { id }: Collection) =>
  (await readItemsOf("actor" in person ? person.actor : person, id)).map(({ repo, position }) => `${position} ${repo.name}`);
const token = (person: TestPerson, ...scopes: TokenHolder["scopes"]): TokenHolder => ({
  kind: "token",
  tokenId: "a token",
  userId: person.id,
  scopes,
  orgIds: [],
  clientId: "an-app",
});

test("the ID at the end of a slug finds the collection", () => {
  expect(slugOf("  Café & Mørk, Nr. 7! ")).toBe("cafe-m-rk-nr-7");
  expect(slugOf("木村 👩‍🚀")).toBe("collection");
  expect(slugOf("x".repeat(300))).toHaveLength(60);
  const id = "0123456789abcdef01234567";
  expect([`tides-${id}`, id, `-${id}`].map(idInSlug)).toEqual([id, id, id]);
  expect(["", "tides", `tides${id}`, `tides-${id.toUpperCase()}`, `${id}-tides`].map(idInSlug)).toEqual(Array(5).fill(undefined));
});

describe("createCollection", () => {
  test("S135 refuses a member who is removed while the request waits", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const { id, name } = await organizationOf(ada, [[bea, "write"]]);
    const lock = `select from organization where id = '${id}' for update; delete from membership where user_id = '${bea.id}'`;
    const [made] = await queueForLock(lock, [() => createCollection(bea.actor, { owner: name, title: "Tides" }, from)]);
    await expect(made).rejects.toMatchObject({ code: "forbidden" });
    expect(await db().collection.count({ where: { ownerId: id } })).toBe(0);
  });

  test("creates one collection for simultaneous requests with the same title", async () => {
    const ada = await signedInPerson();
    const make = () => createCollection(ada.actor, { owner: ada.username, title: "Tides" }, from);
    const made = await Promise.all([make(), make(), make()]);
    expect(made.map(({ outcome }) => outcome).sort()).toEqual(["created", "exists", "exists"]);
    expect(new Set(made.map(({ collection }) => collection.id)).size).toBe(1);
    const again = await createCollection(ada.actor, { owner: ada.username.toUpperCase(), title: " tides " }, from);
    expect(again.outcome).toBe("exists");
  });

  test.each([
    [{ title: " \u200b " }, "title"],
    [{ title: "x".repeat(61) }, "title"],
    [{ title: "a\0b" }, "title"],
    [{ title: "\ud800" }, "title"],
    [{ description: "x".repeat(1_000_000) }, "description"],
    [{ theme: "plaid" }, "theme"],
  ])("refuses %j", async (input, field) => {
    await expect(someCollection(await signedInPerson(), input)).rejects.toMatchObject({ code: "invalid_request", field });
  });

  test("S135 allows contributors of an organization, and refuses its readers", async () => {
    const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
    const { name } = await organizationOf(ada, [
      [bea, "contributor"],
      [cy, "read"],
    ]);
    const own = await someCollection(bea, { owner: name, title: "By Bea" });
    await expect(someCollection(cy, { owner: name })).rejects.toMatchObject({ code: "forbidden" });
    await expect(someCollection(await signedInPerson("dan"), { owner: name })).rejects.toMatchObject({ code: "forbidden" });
    await updateCollection(bea.actor, own.id, { theme: "pink" }, from);
    const ofAda = await someCollection(ada, { owner: name, title: "By Ada" });
    await expect(updateCollection(bea.actor, ofAda.id, { theme: "pink" }, from)).rejects.toMatchObject({ code: "forbidden" });
    const input = { owner: ada.username, title: "By a token" };
    await expect(createCollection(token(ada, "read-collections"), input, from)).rejects.toMatchObject({
      code: "insufficient_scope",
      scope: "write-collections",
    });
    await expect(createCollection(token(ada, "write-collections"), input, from)).resolves.toMatchObject({ outcome: "created" });
  });
});

describe("S136 visibility:", () => {
  test("a private collection looks nonexistent", async () => {
    const [ada, eve] = [await signedInPerson(), await signedInPerson("eve")];
    const collection = await someCollection(ada, { isPrivate: true });
    for (const actor of [eve.actor, anonymous, token(ada, "read-repos")]) {
      await expect(findCollection(actor, collection.id)).rejects.toMatchObject({ code: "not_found" });
      expect((await listCollections(actor, { owners: [ada.username] })).total).toBe(0);
    }
    await expect(deleteCollection(eve.actor, collection.id, from)).rejects.toMatchObject({ code: "not_found" });
    expect((await listCollections(ada.actor, { owners: [ada.username] })).total).toBe(1);
    expect((await listCollections(token(ada, "read-collections"), { owners: [ada.username] })).total).toBe(1);
    expect(await findCollection(ada.actor, `any-words-${collection.id}`)).toMatchObject({ id: collection.id });
  });

  test("hidden repositories leave no gap and are not counted", async () => {
    const [ada, eve] = [await signedInPerson(), await signedInPerson("eve")];
    const collection = await someCollection(ada);
    const [open, hidden, last] = [
      await someRepo(ada, { name: "open" }),
      await someRepo(ada, { name: "hidden", isPrivate: true }),
      await someRepo(ada, { name: "last", type: "dataset" }),
    ];
    for (const repo of [hidden, open, last]) await put(ada, collection, repo);
    expect(await namesSeen(ada, collection)).toEqual(["0 hidden", "1 open", "2 last"]);
    expect(await namesSeen(eve, collection)).toEqual(["0 open", "1 last"]);
    expect(await namesSeen(anonymous, collection)).toEqual(["0 open", "1 last"]);
    const containing = [nameOf(hidden)];
    expect((await listCollections(eve.actor, { containing })).total).toBe(0);
    expect((await listCollections(ada.actor, { containing })).items).toMatchObject([{ id: collection.id, total: 3 }]);
    expect((await listCollections(eve.actor, { containing: [nameOf(open)] })).items).toMatchObject([
      { id: collection.id, total: 2, items: [{ position: 0 }, { position: 1 }] },
    ]);
  });

  test("a user can add only repositories that they may read", async () => {
    const [ada, eve] = [await signedInPerson(), await signedInPerson("eve")];
    const hidden = await someRepo(ada, { isPrivate: true });
    const collection = await someCollection(eve);
    await expect(put(eve, collection, hidden)).rejects.toMatchObject({ code: "not_found", wireCode: "RepoNotFound" });
  });

  test("a disabled owner's collections and repositories are hidden", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const [ofAda, ofBea] = [await someCollection(ada), await someCollection(bea)];
    await put(bea, ofBea, await someRepo(ada));
    await disableUser(operatorCommand, ada.id, from);
    await expect(findCollection(bea.actor, ofAda.id)).rejects.toMatchObject({ code: "not_found" });
    expect(await namesSeen(bea, ofBea)).toEqual([]);
  });
});

describe("items", () => {
  test("an item whose addition deadlocks with other changes is added once", async () => {
    const ada = await signedInPerson();
    const [repo, collection] = [await someRepo(ada), await someCollection(ada)];
    const last = `select from collection where id = '${collection.id}' for update`;
    await deadlock(`select from repo where id = '${repo.id}' for update`, () => put(ada, collection, repo), last);
    expect(await namesSeen(ada, collection)).toEqual([`0 ${repo.name}`]);
  });

  test("are added once, even by simultaneous requests", async () => {
    const ada = await signedInPerson();
    const [collection, repo] = [await someCollection(ada), await someRepo(ada)];
    expect(await outcomes([1, 2, 3].map(() => put(ada, collection, repo)))).toEqual(["conflict", "conflict", "ok"]);
    const others = await Promise.all([1, 2, 3].map(() => someRepo(ada)));
    await Promise.all(others.map((one) => put(ada, collection, one)));
    expect((await readItemsOf(ada.actor, collection.id)).map(({ position }) => position)).toEqual([0, 1, 2, 3]);
  });

  test("S137 take one connection each while twenty requests add missing repositories", async () => {
    const ada = await signedInPerson();
    const collection = await someCollection(ada);
    const absent = { type: "model", owner: "nobody", name: "none" } as const;
    const asked = Array.from({ length: 20 }, () => addItem(ada.actor, collection.id, { repo: absent }));
    expect(await outcomes(asked)).toEqual(Array(20).fill("not_found"));
  });

  test("move among the visible ones, and hidden ones keep their neighbors", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const { name } = await organizationOf(ada, [[bea, "write"]]);
    const collection = await someCollection(ada, { owner: name });
    const repos = await Promise.all(["a", "b", "c"].map((letter) => someRepo(ada, { name: letter })));
    const secret = await someRepo(ada, { name: "secret", isPrivate: true });
    for (const repo of [repos[0], secret, repos[1], repos[2]]) await put(ada, collection, repo as Repo);
    const [, , c] = await readItemsOf(bea.actor, collection.id);
    const moved = await updateItem(bea.actor, collection.id, c?.id ?? "", { position: 0, note: " first of all " });
    expect(moved).toMatchObject({ position: 0, note: "first of all" });
    expect(await namesSeen(bea, collection)).toEqual(["0 c", "1 a", "2 b"]);
    expect(await namesSeen(ada, collection)).toEqual(["0 c", "1 a", "2 secret", "3 b"]);
    await updateItem(bea.actor, collection.id, c?.id ?? "", { position: 99 });
    expect(await namesSeen(ada, collection)).toEqual(["0 a", "1 secret", "2 b", "3 c"]);
    const [, unseen] = await readItemsOf(ada.actor, collection.id);
    const unseenId = unseen?.id ?? "";
    await expect(updateItem(bea.actor, collection.id, unseenId, { note: "x" })).rejects.toMatchObject({ code: "not_found" });
    await expect(removeItem(bea.actor, collection.id, unseenId)).rejects.toMatchObject({ code: "not_found" });
    await removeItem(bea.actor, collection.id, c?.id ?? "");
    expect(await namesSeen(bea, collection)).toEqual(["0 a", "1 b"]);
  });

  test.each([
    [{ note: "x".repeat(501) }, "note"],
    [{ note: "a\0" }, "note"],
    [{ position: -1 }, "position"],
    [{ position: 1.5 }, "position"],
    [{ position: Number.NaN }, "position"],
  ])("refuse %j", async (changes, field) => {
    const ada = await signedInPerson();
    const collection = await someCollection(ada);
    await put(ada, collection, await someRepo(ada));
    const [item] = await readItemsOf(ada.actor, collection.id);
    await expect(updateItem(ada.actor, collection.id, item?.id ?? "", changes)).rejects.toMatchObject({
      code: "invalid_request",
      field,
    });
  });

  test("are deleted with their repository", async () => {
    const ada = await signedInPerson();
    const [collection, gone, stays] = [await someCollection(ada), await someRepo(ada), await someRepo(ada)];
    for (const repo of [gone, stays]) await put(ada, collection, repo);
    await db().repo.delete({ where: { id: gone.id } });
    expect(await readItemsOf(ada.actor, collection.id)).toMatchObject([{ position: 0, repo: { id: stays.id } }]);
    await deleteCollection(ada.actor, collection.id, from);
    expect(await db().collectionItem.count({ where: { collectionId: collection.id } })).toBe(0);
    expect((await eventsOf(stays)).map(({ scope, action }) => `${scope} ${action}`)).toEqual(["repo create"]);
  });
});

describe("updateCollection", () => {
  test("changes only the given fields, and the old URL still finds the collection", async () => {
    const ada = await signedInPerson();
    const collection = await someCollection(ada, { description: "Of the sea", theme: "green" });
    const changed = await updateCollection(ada.actor, collection.id, { title: "Ebb and Flow" }, from);
    expect(changed).toMatchObject({ title: "Ebb and Flow", slug: "ebb-and-flow", description: "Of the sea", theme: "green" });
    expect(await findCollection(anonymous, `tides-moons-${collection.id}`)).toMatchObject({ slug: "ebb-and-flow" });
    const other = await someCollection(ada, { title: "Moons" });
    await expect(updateCollection(ada.actor, other.id, { title: "EBB AND FLOW" }, from)).rejects.toMatchObject({
      code: "conflict",
      field: "title",
    });
    await updateCollection(ada.actor, collection.id, { title: "ebb and flow", description: "" }, from);
    expect(await findCollection(anonymous, collection.id)).toMatchObject({ title: "ebb and flow", description: null });
  });

  test("moves a collection among those of its owner", async () => {
    const ada = await signedInPerson();
    for (const title of ["a", "b", "c"]) await someCollection(ada, { title });
    const titles = async () => (await listCollections(ada.actor, { owners: [ada.username] })).items.map(({ title }) => title);
    expect(await titles()).toEqual(["c", "b", "a"]);
    const { items } = await listCollections(ada.actor, { owners: [ada.username] });
    await updateCollection(ada.actor, items[0]?.id ?? "", { position: 1 }, from);
    expect(await titles()).toEqual(["b", "c", "a"]);
    await updateCollection(ada.actor, items[2]?.id ?? "", { position: 0 }, from);
    expect(await titles()).toEqual(["a", "b", "c"]);
    await updateCollection(ada.actor, items[2]?.id ?? "", { position: 5_000 }, from);
    expect(await titles()).toEqual(["b", "c", "a"]);
  });

  test("S116 writes an entry for a change of visibility in the organization's log", async () => {
    const ada = await signedInPerson();
    const organization = await organizationOf(ada);
    const { id } = await someCollection(ada, { owner: organization.name });
    await updateCollection(ada.actor, id, { isPrivate: true }, from);
    await updateCollection(ada.actor, id, { isPrivate: true, theme: "pink" }, from);
    await deleteCollection(ada.actor, id, from);
    expect((await auditTrail({ orgId: organization.id })).filter((type) => type.startsWith("collection."))).toEqual([
      "collection.create",
      "collection.update",
      "collection.delete",
    ]);
  });
});

test("S138 lists are paged, and a search takes the input literally", async () => {
  const ada = await signedInPerson();
  for (const title of ["100% tide", "100 tides", "Moon_"]) await someCollection(ada, { title });
  const search = async (text: string, page = 1) =>
    (await listCollections(ada.actor, { owners: [ada.username], text, page, pageSize: 2 })).items
      .map(({ title }) => title)
      .sort();
  expect(await search("100%")).toEqual(["100% tide"]);
  expect(await search("_")).toEqual(["Moon_"]);
  expect(await search("\\")).toEqual([]);
  expect(await search("TIDE")).toEqual(["100 tides", "100% tide"]);
  expect(await search("")).toHaveLength(2);
  expect(await search("", 2)).toHaveLength(1);
  await expect(search("a\0")).rejects.toMatchObject({ code: "invalid_request" });
  expect((await listCollections(ada.actor, { owners: ["no-such-owner", "a\0b"] })).total).toBe(0);
});

test("S137 a page of a list has at most thirty collections", async () => {
  const ada = await signedInPerson();
  const about = { ownerId: ada.id, ownerKind: "user", slug: "tides", title: "Tides" };
  await db().collection.createMany({ data: Array.from({ length: 35 }, () => ({ id: newId(), ...about })) });
  const search = { owners: [ada.username], pageSize: 100 };
  const { items, pageSize, total } = await listCollections(anonymous, search);
  expect([items.length, pageSize, total]).toEqual([30, 30, 35]);
  expect((await listCollections(anonymous, { ...search, page: 2 })).items).toHaveLength(5);
});

test("S137 a list shows the most recently changed collections, even if one account owns them all", async () => {
  const [ada, eve] = [await signedInPerson(), await signedInPerson("eve")];
  const repo = await someRepo(ada);
  const [before, secret] = [await someCollection(ada, { title: "Before" }), await someCollection(ada, { isPrivate: true })];
  for (const one of [before, secret]) await put(ada, one, repo);
  await db().$executeRaw`INSERT INTO collection (id, owner_id, owner_kind, slug, title, updated_at)
    SELECT left(md5(${eve.id} || n), 24), ${eve.id}, 'user', 'x', 'Many ' || n, now() + n * interval '1 second'
      FROM generate_series(1, ${LISTED_MAX}::int) n`;
  const titles = async (actor: typeof anonymous | TestPerson["actor"], search: Parameters<typeof listCollections>[1]) => {
    const { items, total } = await listCollections(actor, search);
    return [total, ...items.slice(0, 2).map(({ title }) => title)];
  };
  expect(await titles(anonymous, {})).toEqual([LISTED_MAX, `Many ${LISTED_MAX}`, `Many ${LISTED_MAX - 1}`]);
  expect(await titles(anonymous, { text: "many 17" })).toEqual([111, "Many 1799", "Many 1798"]);
  expect(await titles(anonymous, { text: "before" })).toEqual([0]);
  expect(await titles(anonymous, { text: "many 17", owners: [eve.username] })).toEqual([111, "Many 1799", "Many 1798"]);
  const owners = [ada.username, eve.username];
  expect(await titles(anonymous, { text: "before", owners })).toEqual([0]);
  expect(await titles(anonymous, { owners })).toEqual([LISTED_MAX, `Many ${LISTED_MAX}`, `Many ${LISTED_MAX - 1}`]);
  expect(await titles(anonymous, { owners: [ada.username] })).toEqual([1, "Before"]);
  expect(await titles(eve.actor, { containing: [nameOf(repo)] })).toEqual([1, "Before"]);
  expect((await titles(ada.actor, { containing: [nameOf(repo)] }))[0]).toBe(2);
  await db().$executeRaw`INSERT INTO collection_item (id, collection_id, repo_id, position)
    SELECT left(md5(id), 24), id, ${repo.id}, 0 FROM collection WHERE owner_id = ${eve.id}`;
  expect((await titles(anonymous, { containing: [nameOf(repo)] }))[0]).toBeLessThanOrEqual(LISTED_MAX);
  await db().collection.deleteMany({ where: { ownerId: eve.id } });
});

test("S137 thousands of private collections do not hide a public one", async () => {
  const [ada, eve] = [await signedInPerson(), await signedInPerson("eve")];
  const repo = await someRepo(ada);
  const holders = async (actor: typeof anonymous | TestPerson["actor"]) => {
    const { items, total } = await listCollections(actor, { containing: [nameOf(repo)] });
    return [total, ...items.slice(0, 2).map(({ title }) => title)];
  };
  await db().$executeRaw`INSERT INTO collection (id, owner_id, owner_kind, slug, title, is_private)
    SELECT left(md5(${eve.id} || n), 24), ${eve.id}, 'user', 'x', 'Many ' || n, true FROM generate_series(1, ${LISTED_MAX + 1}::int) n`;
  await db().$executeRaw`INSERT INTO collection_item (id, collection_id, repo_id, position)
    SELECT left(md5(id), 24), id, ${repo.id}, 0 FROM collection WHERE owner_id = ${eve.id}`;
  const [open, secret] = [
    await someCollection(ada, { title: "Open" }),
    await someCollection(ada, { title: "Secret", isPrivate: true }),
  ];
  for (const one of [open, secret]) await put(ada, one, repo);
  expect(await holders(anonymous)).toEqual([1, "Open"]);
  expect(await holders(ada.actor)).toEqual([2, "Secret", "Open"]);
  expect((await holders(eve.actor))[0]).toBe(LISTED_MAX + 1);
  for (const isPrivate of [true, false]) {
    await updateCollection(ada.actor, open.id, { isPrivate }, from);
    expect((await holders(anonymous))[0]).toBe(isPrivate ? 0 : 1);
    expect((await holders(ada.actor))[0]).toBe(2);
  }
  await db().collection.deleteMany({ where: { ownerId: eve.id } });
});

test("S137 an account above 1,000 changes in an hour can still make collections private and delete them", async () => {
  const ada = await signedInPerson();
  const collection = await someCollection(ada);
  const repos = [await someRepo(ada), await someRepo(ada)];
  const [repo, other] = repos as [Repo, Repo];
  await put(ada, collection, repo);
  const [item] = await readItemsOf(ada.actor, collection.id);
  const itemId = item?.id ?? "";
  await updateItem(ada.actor, collection.id, itemId, { position: 0 });
  await updateCollection(ada.actor, collection.id, { position: 0 }, from);
  const where = { key: throttleKey("collection", ada.id) };
  expect(await db().throttle.findUnique({ where })).toMatchObject({ count: 3 });
  await db().throttle.update({ where, data: { count: 1_000 } });
  const changes = [
    put(ada, collection, other),
    updateItem(ada.actor, collection.id, itemId, { note: "x" }),
    updateCollection(ada.actor, collection.id, { theme: "pink" }, from),
  ];
  expect(await outcomes(changes)).toEqual(["rate_limited", "rate_limited", "rate_limited"]);
  expect(await updateCollection(ada.actor, collection.id, { isPrivate: true }, from)).toMatchObject({ isPrivate: true });
  await removeItem(ada.actor, collection.id, itemId);
  await deleteCollection(ada.actor, collection.id, from);
});
