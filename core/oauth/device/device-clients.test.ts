import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import * as oauth from "oauth4webapi";
import * as client from "openid-client";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { allowDevice, type DeviceAuthorization, expireDevice, expireDevicesOf, prepareDevice } from "../testing/device.ts";
import { startWorld } from "../testing/world.ts";
import { denyDevice, openDeviceRequest } from "./answer-device.ts";

const world = await startWorld();
afterAll(() => world.stop());

describe.each([true, false])("openid-client 6, app with a secret: %s", (isConfidential) => {
  async function device() {
    const at = await prepareDevice(world, { isConfidential });
    const authentication = at.app.secret ? client.ClientSecretBasic(at.app.secret) : client.None();
    const config = await client.discovery(new URL(world.origin), at.app.clientId, undefined, authentication, {
      execute: [client.allowInsecureRequests],
    });
    const started = await client.initiateDeviceAuthorization(config, { scope: "openid email" });
    // The library waits for an interval before each poll.
    return { ...at, config, started, waiting: { ...started, interval: 0.05 } };
  }

  test("signs a user in and refreshes", async () => {
    const { config, started, waiting, session, person } = await device();
    expect(started).toMatchObject({ interval: 5, expires_in: 900, verification_uri: `${world.origin}/device` });
    const polling = client.pollDeviceAuthorizationGrant(config, waiting);
    await allowDevice(session, started.user_code);
    const tokens = await polling;
    expect(tokens.claims()).toMatchObject({ sub: person.id, email: person.email });
    expect(tokens.scope).toBe("openid email");
    const claims = await client.fetchUserInfo(config, tokens.access_token, person.id);
    expect(claims.email).toBe(person.email);
    const renewed = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
    expect(renewed.claims()).toMatchObject({ sub: person.id });
    await client.tokenRevocation(config, renewed.refresh_token ?? "");
    await expect(client.fetchUserInfo(config, renewed.access_token, person.id)).rejects.toMatchObject({ status: 401 });
  });

  test("reports a denial", async () => {
    const { config, started, waiting, session } = await device();
    await denyDevice(session, started.user_code, noOrigin);
    await expect(client.pollDeviceAuthorizationGrant(config, waiting)).rejects.toMatchObject({
      error: "access_denied",
      error_description: "Device code denied",
    });
  });

  test("reports that the code has expired", async () => {
    const { config, started, waiting } = await device();
    await expireDevice(started as DeviceAuthorization);
    await expect(client.pollDeviceAuthorizationGrant(config, waiting)).rejects.toMatchObject({ error: "expired_token" });
  });
});

test("oauth4webapi 3 signs a user in", async () => {
  const at = await prepareDevice(world, { isConfidential: true });
  const as = await world.discover();
  const party = { client_id: at.app.clientId };
  const authentication = world.clientAuth(at.app);
  const asked = await oauth.deviceAuthorizationRequest(as, party, authentication, { scope: "openid" }, world.insecure);
  const started = await oauth.processDeviceAuthorizationResponse(as, party, asked);
  const poll = async () => {
    const { device_code } = started;
    const response = await oauth.deviceCodeGrantRequest(as, party, authentication, device_code, world.insecure);
    return oauth.processDeviceCodeResponse(as, party, response);
  };
  await expect(poll()).rejects.toMatchObject({ error: "authorization_pending", status: 400 });
  await expect(poll()).rejects.toMatchObject({ error: "slow_down", status: 400 });
  await allowDevice(at.session, started.user_code);
  const tokens = await poll();
  expect(oauth.getValidatedIdTokenClaims(tokens)).toMatchObject({ sub: at.person.id, aud: at.app.clientId });
  await expect(poll()).rejects.toMatchObject({ error: "invalid_grant" });
  await expect(openDeviceRequest(at.session, started.user_code, noOrigin)).rejects.toMatchObject({ code: "conflict" });
});

const startExample = (issuer: string, clientId: string) =>
  spawn(process.execPath, ["sign-in.ts"], {
    cwd: resolve(import.meta.dirname, "../../../examples/device-cli"),
    env: { ...process.env, ISSUER: issuer, CLIENT_ID: clientId },
    stdio: ["ignore", "pipe", "pipe"],
  });

test("the example command line reports that its code has expired", async () => {
  const { app } = await prepareDevice(world);
  const cli = startExample(world.origin, app.clientId);
  const [failure, [code]] = await Promise.all([
    text(cli.stderr),
    once(cli, "exit"),
    once(cli.stdout, "data").then(() => expireDevicesOf(app)),
  ]);
  expect([code, failure]).toEqual([4, expect.stringContaining("The code expired before the sign-in was completed.")]);
});

test("the example command line stops polling when its code expires, even without a connection", async () => {
  let polls = 0;
  const server = createServer((req, res) => {
    const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
    const answers: Record<string, object> = {
      "/.well-known/openid-configuration": {
        issuer,
        token_endpoint: `${issuer}/token`,
        device_authorization_endpoint: `${issuer}/device`,
      },
      "/device": { device_code: "d", user_code: "u", verification_uri: issuer, expires_in: 2.5, interval: 1 },
    };
    const answer = answers[req.url ?? ""];
    if (answer) return res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
    polls += 1;
    return req.socket.destroy();
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const cli = startExample(`http://localhost:${(server.address() as AddressInfo).port}`, "a client");
  const [failure, [code]] = await Promise.all([text(cli.stderr), once(cli, "exit")]);
  expect([code, failure]).toEqual([4, expect.stringContaining("The code expired")]);
  expect(polls).toBeLessThan(2);
});
