import { afterAll, beforeAll, expect, test } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { newId } from "#core/ids.ts";
import { findAllowedApp } from "../consents/find-allowed-app.ts";
import { allowDevice, poll, prepareDevice, startDevice } from "../testing/device.ts";
import { startWorld, type World } from "../testing/world.ts";
import { denyDevice } from "./deny-device.ts";
import { findDeviceAnswer } from "./find-device-answer.ts";
import { openDeviceRequest } from "./open-device-request.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

test("what a person has answered is known to them and to nobody else", async () => {
  const at = await prepareDevice(world);
  const other = await world.signIn(world.browser(), await world.user(`o-${newId()}`));
  const [allowed, denied] = [await startDevice(at), await startDevice(at)];
  await openDeviceRequest(at.session, allowed.user_code, noOrigin);
  expect(await findDeviceAnswer(at.session, allowed.user_code)).toBeUndefined();
  await allowDevice(at.session, allowed.user_code);
  await denyDevice(at.session, denied.user_code, noOrigin);
  const { clientId } = at.app;
  expect(await findDeviceAnswer(at.session, allowed.user_code.toLowerCase())).toEqual({ clientId, isApproved: true });
  expect(await findDeviceAnswer(at.session, denied.user_code)).toEqual({ clientId, isApproved: false });
  expect(await findDeviceAnswer(other, allowed.user_code)).toBeUndefined();
  expect(await findDeviceAnswer(at.session, "nonsense")).toBeUndefined();
  await poll(at, allowed.device_code);
  expect(await findDeviceAnswer(at.session, allowed.user_code)).toEqual({ clientId, isApproved: true });
  expect((await findAllowedApp(at.person.id, clientId))?.name).toBe("Paper Lantern");
  expect(await findAllowedApp(other.user.id, clientId)).toBeUndefined();
});
