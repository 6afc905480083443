import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { db } from "../../db.ts";
import { findAvatar } from "../avatar.ts";
import { auditTrail, from, signedInPerson } from "../testing/people.ts";
import { findUser } from "./find-user.ts";
import { updateProfile } from "./update-profile.ts";

const picture = () =>
  sharp({ create: { width: 40, height: 40, channels: 3, background: "#225577" } })
    .png()
    .toBuffer();

describe("updateProfile", () => {
  test("changes the given fields and leaves the rest", async () => {
    const { id, actor } = await signedInPerson();
    await updateProfile(actor, id, { fullName: " Ada\u200b  Lovelace ", website: "https://ada.example" }, from);
    expect(await findUser(id)).toMatchObject({ fullName: "Ada Lovelace", website: "https://ada.example/" });
    await updateProfile(actor, id, { website: "" }, from);
    expect(await findUser(id)).toMatchObject({ fullName: "Ada Lovelace", website: null });
    expect((await auditTrail({ subjectId: id })).slice(1)).toEqual(["user.update_profile", "user.update_profile"]);
  });

  test("replaces and deletes the previous avatar", async () => {
    const { id, actor, username } = await signedInPerson();
    expect((await findAvatar(username)).contentType).toContain("svg");
    await updateProfile(actor, id, { avatar: await picture() }, from);
    const first = (await findUser(id))?.avatarId as string;
    expect((await findAvatar(username.toUpperCase())).contentType).toBe("image/webp");
    await Promise.all([
      updateProfile(actor, id, { avatar: await picture() }, from),
      updateProfile(actor, id, { avatar: await picture() }, from),
    ]);
    const second = (await findUser(id))?.avatarId as string;
    expect(await db().image.findUnique({ where: { id: first } })).toBeNull();
    await updateProfile(actor, id, { avatar: null }, from);
    expect((await findUser(id))?.avatarId).toBeNull();
    expect(await db().image.count({ where: { id: { in: [first, second] } } })).toBe(0);
    expect(await db().image.count()).toBe(0);
  });

  test.each([
    ["fullName", { fullName: "" }],
    ["fullName", { fullName: "\u200b\u200d" }],
    ["fullName", { fullName: "a\0" }],
    ["fullName", { fullName: "x".repeat(101) }],
    ["website", { website: "javascript:alert(1)" }],
    ["website", { website: "https://ada\0.example" }],
    ["avatar", { avatar: Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>") }],
  ])("S51 an invalid %s changes nothing, and the error names the field", async (field, bad) => {
    const { id, actor } = await signedInPerson();
    const before = await findUser(id);
    await expect(updateProfile(actor, id, bad, from)).rejects.toMatchObject({ code: "invalid_request", field });
    expect(await findUser(id)).toEqual(before);
  });

  test("S136 refuses another user's profile with the same response as an unknown profile", async () => {
    const { id } = await signedInPerson();
    const other = await signedInPerson();
    for (const target of [id, "0".repeat(24), "\0"]) {
      await expect(updateProfile(other.actor, target, { fullName: "x" }, from)).rejects.toMatchObject({ code: "not_found" });
    }
  });
});
