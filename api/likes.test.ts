import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { throttleKey } from "#core/accounts/throttle.ts";
import { disableUser } from "#core/accounts/users/disable-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { countLikers, countLikesOfUser, setLike } from "#core/hub/repos/likes.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { type Caller, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

async function send(caller: Caller | undefined, method: string, path: string) {
  const headers = caller && { authorization: `Bearer ${caller.accessToken}` };
  const response = await fetch(world.origin + path, { method, ...(headers && { headers }) });
  return { status: response.status, link: response.headers.get("link"), body: await response.json() };
}

const liker = () => someCaller("write-discussions", "read-repos", "manage-repos");

test("a like is counted once, listed on both sides, and withdrawn", async () => {
  const [ada, bea] = [await liker(), await liker()];
  const [model, space] = [await someRepo(ada), await someRepo(ada, { type: "space", sdk: "static" })];
  for (const path of [`/api/models/${model.fullName}`, `/api/spaces/${space.fullName}`]) {
    for (const one of [ada, bea, bea]) expect(await send(one, "POST", `${path}/like`)).toMatchObject({ status: 200, body: {} });
    expect((await send(undefined, "GET", path)).body).toMatchObject({ likes: 2 });
  }
  expect(await send(undefined, "GET", `/api/models/${model.fullName}/likers`)).toMatchObject({
    link: null,
    body: [bea, ada].map(({ username }) => ({ user: username, fullname: expect.any(String), avatarUrl: expect.any(String) })),
  });
  expect((await send(undefined, "GET", `/api/users/${bea.username}/likes`)).body).toEqual(
    [space, model].map(({ fullName, type }) => ({ createdAt: expect.any(String), repo: { name: fullName, type } })),
  );
  expect(await countLikesOfUser(bea.id, 8)).toBe(2);
  for (let n = 0; n < 2; n++) expect((await send(bea, "DELETE", `/api/models/${model.fullName}/like`)).status).toBe(200);
  expect((await send(undefined, "GET", `/api/models/${model.fullName}`)).body.likes).toBe(1);
  expect((await send(undefined, "GET", `/api/users/${bea.username}/likes`)).body).toHaveLength(1);
});

test("simultaneous requests count one like for each user, and likes are deleted with their repository or user", async () => {
  const [ada, ...others] = await Promise.all(Array.from({ length: 6 }, liker));
  const repo = await someRepo(ada as Caller);
  await Promise.all(
    others.flatMap((one) => Array.from({ length: 4 }, () => send(one, "POST", `/api/models/${repo.fullName}/like`))),
  );
  const likes = async () => (await db().repo.findUnique({ where: { id: repo.id }, select: { likes: true } }))?.likes;
  expect(await likes()).toBe(5);
  await disableUser(operatorCommand, others[0]?.id ?? "", noOrigin);
  expect((await send(undefined, "GET", `/api/models/${repo.fullName}/likers`)).body).toHaveLength(4);
  expect(await countLikers(repo.id)).toBe(4);
  await db().user.delete({ where: { id: others[1]?.id ?? "" } });
  expect(await likes()).toBe(4);
  await db().repo.delete({ where: { id: repo.id } });
  expect(await db().repoLike.count({ where: { repoId: repo.id } })).toBe(0);
});

test("S136 a private repository can be liked by users who may read it, and does not appear in public lists", async () => {
  const [ada, bea] = [await liker(), await liker()];
  const repo = await someRepo(ada, { isPrivate: true });
  const path = `/api/models/${repo.fullName}`;
  expect((await send(ada, "POST", `${path}/like`)).status).toBe(200);
  expect((await send(bea, "POST", `${path}/like`)).status).toBe(404);
  expect((await send(bea, "GET", `${path}/likers`)).status).toBe(404);
  for (const one of [undefined, ada]) expect((await send(one, "GET", `/api/users/${ada.username}/likes`)).body).toEqual([]);
  expect(await countLikesOfUser(ada.id, 8)).toBe(0);
});

test("S137 a like waits only briefly for other changes of the repository, and an account can give 1,000 an hour", async () => {
  const ada = await liker();
  const repo = await someRepo(ada);
  const path = `/api/models/${repo.fullName}/like`;
  await db().$transaction(async (tx) => {
    await tx.$executeRaw`SELECT 1 FROM repo WHERE id = ${repo.id} FOR UPDATE`;
    expect((await send(ada, "POST", path)).status).toBe(503);
  });
  expect((await send(ada, "POST", path)).status).toBe(200);
  await db().throttle.update({ where: { key: throttleKey("like", ada.id) }, data: { count: 1_000 } });
  expect((await send(ada, "DELETE", path)).status).toBe(429);
});

test("a like needs a token with the scope", async () => {
  const ada = await liker();
  const repo = await someRepo(ada);
  const reader = await someCaller("read-repos");
  expect((await send(undefined, "POST", `/api/models/${repo.fullName}/like`)).status).toBe(401);
  expect((await send(reader, "POST", `/api/models/${repo.fullName}/like`)).status).toBe(403);
  expect((await send(undefined, "GET", "/api/users/nobody-of-that-name/likes")).status).toBe(404);
});

test("S135 a like is refused if the repository becomes private while the like waits for its row", async () => {
  const [ada, bea] = [await someCaller(), await someCaller()];
  const repo = await someRepo(ada);
  const client = await pool().connect();
  try {
    await client.query("begin");
    await client.query("update repo set is_private = true where id = $1", [repo.id]);
    const liking = setLike(bea.actor, { type: repo.type, owner: ada.username, name: repo.name }, true).catch(({ code }) => code);
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(async () => (await pool().query(waiting)).rowCount).toBe(1);
    await client.query("commit");
    expect(await liking).toBe("not_found");
  } finally {
    client.release();
  }
  expect(await db().repoLike.count({ where: { repoId: repo.id } })).toBe(0);
});
