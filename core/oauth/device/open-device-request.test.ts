import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin, type RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { updateApp } from "../apps/update-app.ts";
import { findAllowedApp } from "../consents/list-consents.ts";
import {
  allowDevice,
  type DeviceAuthorization,
  expireDevice,
  poll,
  prepareDevice,
  shownAnswer,
  startDevice,
} from "../testing/device.ts";
import type { Prepared } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { approveDevice, denyDevice, findDeviceAnswer, openDeviceRequest, releaseDeviceRequest } from "./answer-device.ts";

let at: Prepared;
let started: DeviceAuthorization;
const home: RequestOrigin = { ip: "198.51.100.7", userAgent: "a browser" };

const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  world.sendFrom("198.51.100.7");
  at = await prepareDevice(world);
  started = await startDevice(at);
});

const another = async () => world.signIn(world.browser(), await world.user(`o-${newId()}`));
const unknown = { code: "not_found", field: "user_code" };

describe("S58 a user code", () => {
  test("is eight consonants in two groups", () => {
    expect(started.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  });

  test.each([
    ["in lower case", (code: string) => code.toLowerCase()],
    ["without its hyphen", (code: string) => code.replace("-", "")],
    ["with spaces", (code: string) => ` ${[...code].join(" ")} `],
    ["with another dash", (code: string) => code.replace("-", "\u2013")],
    ["in full width", (code: string) => code.replace(/[A-Z]/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0))],
  ])("is found when it is typed %s", async (_how, type) => {
    const request = await openDeviceRequest(at.session, type(started.user_code), home);
    expect(request.userCode).toBe(started.user_code);
  });

  test.each(["", "BCDF-GHJ", "BCDF-GHJKL", "AAAA-0000", "\0", "x".repeat(100_000), "🙂🙂🙂🙂🙂🙂🙂🙂"])(
    "is not found when it is %j",
    async (typed) => {
      await expect(openDeviceRequest(at.session, typed, home)).rejects.toMatchObject(unknown);
    },
  );
});

describe("S64 the request shows", () => {
  test("the app, the device, its address and every scope", async () => {
    await allowDevice(at.session, (await startDevice(at)).user_code);
    const request = await openDeviceRequest(at.session, started.user_code, home);
    expect(request).toMatchObject({
      device: { ip: "198.51.100.7", userAgent: expect.any(String) },
      isFromOtherNetwork: false,
      consent: { app: { clientId: at.app.clientId, name: "Paper Lantern" }, redirectTarget: null, alreadyGranted: [] },
    });
    expect(request.consent.scopes.map(({ scope }) => scope)).toEqual(["openid", "profile", "email", "read-repos"]);
    expect(request.expiresAt.getTime() - request.requestedAt.getTime()).toBeCloseTo(900_000, -4);
  });

  test("as unticked, a scope that the user unticked before", async () => {
    await allowDevice(at.session, (await startDevice(at)).user_code, { scopes: ["email"] });
    const { consent } = await openDeviceRequest(at.session, started.user_code, home);
    expect(consent.scopes.filter(({ isTicked }) => !isTicked).map(({ scope }) => scope)).toEqual(["read-repos"]);
  });

  test("a warning if the request came from another network than the user's", async () => {
    const elsewhere = { ...home, ip: "203.0.113.9" };
    expect((await openDeviceRequest(at.session, started.user_code, elsewhere)).isFromOtherNetwork).toBe(true);
    expect((await openDeviceRequest(at.session, started.user_code, noOrigin)).isFromOtherNetwork).toBe(false);
  });

  test("no warning if both use addresses of one machine", async () => {
    world.sendFrom("127.0.0.1");
    const beside = await startDevice(at);
    expect((await openDeviceRequest(at.session, beside.user_code, { ...home, ip: "::1" })).isFromOtherNetwork).toBe(false);
  });

  test("the organizations that the device requests", async () => {
    const orgId = await world.organization(`org-${newId()}`, { [at.person.id]: "write" });
    const asked = await startDevice(at, { orgIds: orgId });
    const { consent } = await openDeviceRequest(at.session, asked.user_code, home);
    expect(consent.organizations).toMatchObject([{ id: orgId, isAskedFor: true, isTicked: true }]);
  });

  test("nothing about an app that was blocked in the meantime", async () => {
    await db().oAuthApp.update({ where: { clientId: at.app.clientId }, data: { blockedAt: new Date() } });
    await updateApp(operatorCommand, at.app.id, { description: "so that every process hears of it" }, noOrigin);
    await expect(openDeviceRequest(at.session, started.user_code, home)).rejects.toMatchObject({ code: "gone" });
  });

  test("S66 nothing about an app whose device flow was turned off in the meantime", async () => {
    const both = await prepareDevice(world, { redirectUris: ["https://app.example.test/cb"] });
    const { user_code, device_code } = await startDevice(both);
    const answer = shownAnswer(await openDeviceRequest(both.session, user_code, home), both.session);
    await updateApp(operatorCommand, both.app.id, { isDeviceFlowAllowed: false }, noOrigin);
    await expect(approveDevice(both.session, user_code, answer, home)).rejects.toMatchObject({ code: "gone" });
    await expect(openDeviceRequest(both.session, user_code, home)).rejects.toMatchObject({ code: "gone" });
    expect(await poll(both, device_code)).toMatchObject({ status: 400, body: { error: "unauthorized_client" } });
  });
});

describe("S65 a code that one account has opened", () => {
  test("gets the same response for another account as a missing code", async () => {
    await openDeviceRequest(at.session, started.user_code, home);
    const other = await another();
    const claimed = await openDeviceRequest(other, started.user_code, home).catch((error) => error);
    const wrong = await openDeviceRequest(other, "BBBB-BBBB", home).catch((error) => error);
    expect(claimed).toMatchObject(unknown);
    expect({ ...claimed, message: claimed.message }).toEqual({ ...wrong, message: wrong.message });
    expect((await openDeviceRequest(at.session, started.user_code, home)).userCode).toBe(started.user_code);
  });

  test("belongs to one of twenty accounts that open it at the same moment", async () => {
    const people = await Promise.all(Array.from({ length: 20 }, another));
    const opened = await Promise.allSettled(people.map((each) => openDeviceRequest(each, started.user_code, noOrigin)));
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("can be released only by that account", async () => {
    const other = await another();
    await openDeviceRequest(at.session, started.user_code, home);
    await releaseDeviceRequest(other, started.user_code);
    await expect(openDeviceRequest(other, started.user_code, home)).rejects.toMatchObject(unknown);
    await releaseDeviceRequest(at.session, started.user_code);
    await openDeviceRequest(other, started.user_code, home);
    await expect(openDeviceRequest(at.session, started.user_code, home)).rejects.toMatchObject(unknown);
  });
});

test("an expired code gets the same response as a wrong code", async () => {
  await expireDevice(started);
  await expect(openDeviceRequest(at.session, started.user_code, home)).rejects.toMatchObject(unknown);
});

test("only the user who answered a code learns that it was answered", async () => {
  await allowDevice(at.session, started.user_code);
  await expect(openDeviceRequest(at.session, started.user_code, home)).rejects.toMatchObject({
    code: "conflict",
    field: "user_code",
  });
  await expect(openDeviceRequest(await another(), started.user_code, home)).rejects.toMatchObject(unknown);
});

test("only the user who answered a code finds the answer and the allowed app", async () => {
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
