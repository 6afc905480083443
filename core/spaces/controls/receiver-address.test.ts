import { expect, it } from "vitest";
import { organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { someRepo } from "../../hub/testing/repos.ts";

it("S151 the receiver URL of a private Space expires when a member who may know it leaves", async () => {
  const [admin, member, other] = [await signedInPerson(), await signedInPerson(), await signedInPerson()];
  const organization = await organizationOf(admin, [
    [member, "write"],
    [other, "write"],
  ]);
  const made = async (more: { isPrivate?: boolean }) => {
    const { id } = await someRepo(admin, { type: "space", owner: organization.name, ...more });
    const create = { repoId: id, ownerId: organization.id, stage: "SLEEPING" };
    await db().spaceRuntime.upsert({ where: { repoId: id }, create, update: {} });
    return id;
  };
  const [closed, open] = [await made({ isPrivate: true }), await made({})];
  const generationOf = async (repoId: string) =>
    (await db().spaceRuntime.findUniqueOrThrow({ where: { repoId } })).receiverGeneration;
  const changed = async (act: () => Promise<unknown>, id = closed) => {
    const before = await generationOf(id);
    await act();
    return (await generationOf(id)) !== before;
  };
  const removal = () => db().membership.deleteMany({ where: { userId: member.id } });
  const openBefore = await generationOf(open);
  expect(await changed(removal)).toBe(true);
  expect(await changed(() => db().user.update({ where: { id: other.id }, data: { disabledAt: new Date() } }))).toBe(true);
  expect(await generationOf(open)).toBe(openBefore);
  const transfer = { ownerId: admin.id, ownerKind: "user" };
  expect(await changed(() => db().repo.update({ where: { id: closed }, data: transfer }))).toBe(true);
  expect(await changed(() => db().repo.update({ where: { id: open }, data: { isPrivate: true } }), open)).toBe(true);
});
