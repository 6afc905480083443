import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { revokeConsent } from "../consents/revoke-consent.ts";
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
import { approveDevice, denyDevice, openDeviceRequest } from "./answer-device.ts";

let at: Prepared;
let started: DeviceAuthorization;

const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  at = await prepareDevice(world);
  started = await startDevice(at);
});

const eventsOf = (type: string) => db().auditEvent.findMany({ where: { type, clientId: at.app.clientId } });

test("an approval gives the device the ticked scopes", async () => {
  const orgId = await world.organization(`org-${newId()}`, { [at.person.id]: "write" });
  const asked = await startDevice(at, { orgIds: orgId });
  await allowDevice(at.session, asked.user_code, { scopes: ["email"], orgIds: [orgId] });
  const { status, body } = await poll(at, asked.device_code);
  expect(status).toBe(200);
  expect(body).toMatchObject({ token_type: "bearer", expires_in: 28_800, scope: "openid profile email" });
  const claims = await (await world.userinfo(body.access_token)).json();
  expect(claims).toMatchObject({ sub: at.person.id, email: at.person.email, organizations: [{ sub: orgId }] });
});

test("S116 an approval and a denial write an entry that names the device", async () => {
  await allowDevice(at.session, started.user_code, {}, { ip: "203.0.113.9", userAgent: "a browser" });
  await denyDevice(at.session, (await startDevice(at)).user_code, noOrigin);
  const device = { ip: "127.0.0.1", userAgent: expect.any(String) };
  expect(await eventsOf("device.approve")).toMatchObject([{ actorId: at.person.id, ip: "203.0.113.9", data: { device } }]);
  expect(await eventsOf("device.deny")).toMatchObject([{ actorId: at.person.id, data: { device } }]);
  expect(await eventsOf("oauth_consent.give")).toHaveLength(1);
});

describe("S65 a code opened by one account", () => {
  test("cannot be approved or denied by another account", async () => {
    const request = await openDeviceRequest(at.session, started.user_code, noOrigin);
    const other = await world.signIn(world.browser(), await world.user(`o-${newId()}`));
    const answer = shownAnswer(request, other);
    await expect(approveDevice(other, started.user_code, answer, noOrigin)).rejects.toMatchObject({ code: "not_found" });
    await expect(denyDevice(other, started.user_code, noOrigin)).rejects.toMatchObject({ code: "not_found" });
    expect((await poll(at, started.device_code)).body.error).toBe("authorization_pending");
  });

  test("cannot be approved if another user is signed in when the form arrives", async () => {
    const request = await openDeviceRequest(at.session, started.user_code, noOrigin);
    const answer = { ...shownAnswer(request, at.session), accountId: newId() };
    await expect(approveDevice(at.session, started.user_code, answer, noOrigin)).rejects.toMatchObject({ code: "forbidden" });
  });
});

test("S33 an answer with something that was not requested is refused, and stores nothing", async () => {
  const request = await openDeviceRequest(at.session, started.user_code, noOrigin);
  const shown = shownAnswer(request, at.session);
  for (const answer of [
    { ...shown, scopes: ["write-repos"] },
    { ...shown, orgIds: [newId()] },
  ]) {
    await expect(approveDevice(at.session, started.user_code, answer, noOrigin)).rejects.toMatchObject({
      code: "invalid_request",
    });
  }
  expect(await db().oAuthConsent.count({ where: { clientId: at.app.clientId } })).toBe(0);
  expect((await poll(at, started.device_code)).body.error).toBe("authorization_pending");
});

describe("one answer counts", () => {
  test("of twenty approvals at the same moment", async () => {
    const request = await openDeviceRequest(at.session, started.user_code, noOrigin);
    const answer = shownAnswer(request, at.session);
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, () => approveDevice(at.session, started.user_code, answer, noOrigin)),
    );
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const each of answers) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "conflict", field: "user_code" });
    }
    expect(await eventsOf("device.approve")).toHaveLength(1);
    expect(await db().oAuthGrant.count({ where: { clientId: at.app.clientId } })).toBe(1);
  });

  test.each(Array.from({ length: 5 }, (_, n) => n))("of an approval and a denial at the same moment (%i)", async () => {
    const request = await openDeviceRequest(at.session, started.user_code, noOrigin);
    const answer = shownAnswer(request, at.session);
    const [approval, refusal] = await Promise.allSettled([
      approveDevice(at.session, started.user_code, answer, noOrigin),
      denyDevice(at.session, started.user_code, noOrigin),
    ]);
    expect([approval.status, refusal.status].sort()).toEqual(["fulfilled", "rejected"]);
    const { body } = await poll(at, started.device_code);
    const isApproved = approval.status === "fulfilled";
    expect(body).toMatchObject(isApproved ? { access_token: expect.any(String) } : { error: "access_denied" });
    expect(await db().oAuthConsent.count({ where: { clientId: at.app.clientId } })).toBe(isApproved ? 1 : 0);
    expect(await db().oAuthGrant.count({ where: { clientId: at.app.clientId } })).toBe(isApproved ? 1 : 0);
  });

  test("only until the code expires", async () => {
    const request = await openDeviceRequest(at.session, started.user_code, noOrigin);
    await expireDevice(started);
    const answer = shownAnswer(request, at.session);
    await expect(approveDevice(at.session, started.user_code, answer, noOrigin)).rejects.toMatchObject({ code: "not_found" });
    expect((await poll(at, started.device_code)).body.error).toBe("expired_token");
  });
});

test("S114 revoking the consent ends the device's token, and an approval that the device has not collected", async () => {
  await allowDevice(at.session, started.user_code);
  const { body } = await poll(at, started.device_code);
  const second = await startDevice(at);
  await allowDevice(at.session, second.user_code);
  const consent = await db().oAuthConsent.findFirstOrThrow({ where: { clientId: at.app.clientId, revokedAt: null } });
  await revokeConsent(at.session, consent.id, noOrigin);
  expect((await world.userinfo(body.access_token)).status).toBe(401);
  expect((await poll(at, second.device_code)).body.error).toBe("invalid_grant");
});
