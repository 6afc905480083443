import { afterAll, beforeAll, expect, test } from "vitest";
import { findAnsweredUrl, readInteraction } from "./interaction.ts";
import { openQuestion, resume } from "./testing/authorization.ts";
import { prepare } from "./testing/sign-in.ts";
import { startWorld, type World } from "./testing/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

test("who presses the button twice goes on where the first press leads, until the browser has left", async () => {
  const prepared = await prepare(world);
  const { at, allow } = await openQuestion(prepared);
  expect(await findAnsweredUrl(at)).toBeUndefined();
  const url = await allow();
  await expect(readInteraction(at)).rejects.toMatchObject({ code: "gone" });
  expect(await findAnsweredUrl(at)).toBe(url);
  await resume(prepared, url);
  expect(await findAnsweredUrl(at)).toBeUndefined();
});

test("S25 where an answer leads is told to the browser that gave it alone", async () => {
  const { at, allow } = await openQuestion(await prepare(world));
  await allow();
  const other = await openQuestion(await prepare(world));
  expect(await findAnsweredUrl({ uid: at.uid, cookie: other.at.cookie })).toBeUndefined();
  expect(await findAnsweredUrl({ uid: at.uid, cookie: "" })).toBeUndefined();
  expect(await findAnsweredUrl({ uid: at.uid, cookie: at.cookie.replace(/[^;]*\.sig=[^;]*/g, "") })).toBeUndefined();
});
