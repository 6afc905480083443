import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { startBucket, type TestBucket } from "#core/hub/lfs/testing/start-bucket.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { deleteSecret, rotateSecret } from "#core/oauth/apps/app-secrets.ts";
import { revokeConsent } from "#core/oauth/consents/revoke-consent.ts";
import { rotateSigningKeys } from "#core/oauth/signing-keys.ts";
import { authorize, prepare, redemption, signIn } from "#core/oauth/testing/sign-in.ts";
import { type AnyWorld, worldAt } from "#core/oauth/testing/world.ts";
import { queueDeliveries, webhookTo } from "#core/webhooks/testing/deliveries.ts";
import { ACTIVITY_CHANNEL } from "#core/webhooks/vocabulary.ts";
import { actionsFor, type BatchAction, somebodyWithToken, someObject } from "../api/testing/lfs.ts";
import { type ServiceProcess, startProcess } from "./testing/start-process.ts";

let processes: ServiceProcess[];
let world: AnyWorld;
let addresses: string[];
let bucket: TestBucket;
beforeAll(async () => {
  bucket = await startBucket();
  const first = await startProcess();
  const second = await startProcess({ ORIGIN: first.origin });
  processes = [first, second];
  addresses = processes.map(({ origin }) => origin);
  world = worldAt(first.origin);
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.stop()));
  await bucket.stop();
});

const soon = { interval: 10 };

function post(address: string | undefined, path: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  return fetch(`${address}${path}`, { method: "POST", headers, body: new URLSearchParams(form) });
}

test("S110 both processes use the same origin in their responses", async () => {
  for (const address of addresses) {
    const document = await (await fetch(`${address}/.well-known/openid-configuration`)).json();
    expect(document).toMatchObject({ issuer: world.origin, token_endpoint: `${world.origin}/oauth/token` });
  }
});

test("S44 fifty parallel redemptions of one code at both processes give one set of tokens, which is then revoked", async () => {
  const at = await prepare(world, { isRefreshAllowed: true });
  const code = redemption(await authorize(at), { client_id: at.app.clientId });
  const responses = await Promise.all(Array.from({ length: 50 }, (_, index) => post(addresses[index % 2], "/oauth/token", code)));
  const bodies = await Promise.all(responses.map((response) => response.json()));
  const issued = bodies.filter((body) => body.access_token);
  expect(issued).toHaveLength(1);
  expect(bodies.filter((body) => body.error === "invalid_grant")).toHaveLength(49);
  expect(await db().oAuthArtifact.count({ where: { clientId: at.app.clientId, model: "AccessToken" } })).toBe(1);
  for (const address of addresses) {
    const answer = await fetch(`${address}/oauth/userinfo`, { headers: { authorization: `Bearer ${issued[0].access_token}` } });
    expect(answer.status).toBe(401);
  }
  const replays = await db().auditEvent.count({ where: { clientId: at.app.clientId, type: "oauth_token.replay_detected" } });
  expect(replays).toBe(1);
});

test("S47 one of twenty parallel refreshes at both processes succeeds, and the token family stays valid", async () => {
  const at = await signIn(world, { isRefreshAllowed: true });
  const form = { grant_type: "refresh_token", refresh_token: at.tokens.refresh_token, client_id: at.app.clientId };
  const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => post(addresses[index % 2], "/oauth/token", form)));
  const succeeded = responses.filter(({ status }) => status === 200);
  expect(succeeded).toHaveLength(1);
  const { access_token } = await (succeeded[0] as Response).json();
  expect((await world.userinfo(access_token)).status).toBe(200);
});

test("S52 both processes refuse an app's secret within a second after it was replaced elsewhere", async () => {
  const { app } = await prepare(world, { isConfidential: true });
  const accepts = async (secret: string | undefined) =>
    Promise.all(
      addresses.map(async (address) => {
        const headers = { authorization: world.basic(app.clientId, secret ?? "") };
        return (await post(address, "/oauth/introspect", { token: "x" }, headers)).status === 200;
      }),
    );
  expect(await accepts(app.secret)).toEqual([true, true]);
  const { secret } = await rotateSecret(operatorCommand, app.id, {}, noOrigin);
  await expect.poll(() => accepts(app.secret), soon).toEqual([false, false]);
  expect(await accepts(secret)).toEqual([true, true]);
  await deleteSecret(operatorCommand, app.id, noOrigin);
  await expect.poll(() => accepts(secret), soon).toEqual([false, false]);
});

test("S114 a consent revoked elsewhere is invalid at both processes from the next call", async () => {
  const at = await signIn(world);
  const consent = await db().oAuthConsent.findFirstOrThrow({ where: { clientId: at.app.clientId } });
  const statuses = () =>
    Promise.all(
      addresses.flatMap((address) =>
        ["/oauth/userinfo", "/api/whoami-v2"].map(
          async (path) =>
            (await fetch(address + path, { headers: { authorization: `Bearer ${at.tokens.access_token}` } })).status,
        ),
      ),
    );
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  await revokeConsent(at.session, consent.id, noOrigin);
  expect(await statuses()).toEqual([401, 401, 401, 401]);
});

test("S107 both processes use rotated signing keys, and a sign-in may begin at one and end at the other", async () => {
  const { kids } = await rotateSigningKeys();
  for (const address of addresses) {
    const publishedAt = async () =>
      (await (await fetch(`${address}/oauth/jwks`)).json()).keys.map(({ kid }: { kid: string }) => kid);
    await expect.poll(publishedAt, soon).toEqual(expect.arrayContaining(kids));
  }
  const at = await prepare(world);
  const code = redemption(await authorize(at), { client_id: at.app.clientId });
  expect((await post(addresses[1], "/oauth/token", code)).status).toBe(200);
});

test("an upload in parts may begin at one process and be completed at the other", async () => {
  const ada = await somebodyWithToken("write-repos");
  const repo = await someRepo(ada);
  const object = someObject();
  const upload = async (address = "") =>
    (await actionsFor(address, repo, "upload", [object], { ...ada, transfers: ["multipart"] }))[0]?.actions?.upload;
  const [begun, again] = [await upload(addresses[0]), await upload(addresses[1])];
  const { header = {}, href } = begun as BatchAction;
  const place = (action: BatchAction | undefined) => new URL(action?.header?.["00001"] ?? "").pathname;
  expect(place(again)).toBe(place(begun));
  const part = await fetch(header["00001"] ?? "", { method: "PUT", body: Uint8Array.from(object.content) });
  const parts = [{ partNumber: 1, etag: part.headers.get("etag") }];
  const { pathname, search } = new URL(href);
  // s3rver does not join parts atomically, so the requests come one after the other.
  for (const address of addresses.toReversed()) {
    const completed = await fetch(address + pathname + search, {
      method: "POST",
      headers: { "content-type": "application/vnd.git-lfs+json" },
      body: JSON.stringify({ oid: object.oid, parts }),
    });
    expect(completed.status).toBe(200);
  }
  for (const address of addresses) {
    const [found] = await actionsFor(address, repo, "download", [object], ada);
    const content = await fetch(found?.actions?.download?.href ?? "");
    expect(Buffer.from(await content.arrayBuffer()).equals(object.content)).toBe(true);
  }
});

test("a live tail continues without a gap at another process when its own process ends", async () => {
  const ada = await somebodyWithToken("webhooks");
  const repo = await someRepo(ada);
  const about = { ownerId: ada.id, repoId: repo.id };
  const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
  const ending = await startProcess({ ORIGIN: world.origin });
  async function follow(address: string | undefined, lastEventId = "") {
    const headers = { authorization: `Bearer ${ada.accessToken}`, "last-event-id": lastEventId };
    const response = await fetch(`${address}/api/settings/webhooks/${webhookId}/deliveries/live`, { headers });
    expect(response.status).toBe(200);
    const view = { text: "", ended: Promise.resolve() };
    view.ended = (async () => {
      for await (const piece of response.body ?? []) view.text += Buffer.from(piece).toString();
    })().catch(() => undefined);
    return view;
  }
  const shownBy = ({ text }: { text: string }) => [...text.matchAll(/^data: \{"id":"([0-9a-f]+)"/gm)].map(([, id]) => id);
  const first = await follow(ending.origin, String(Date.now()));
  const [seen] = await queueDeliveries(webhookId, about);
  await pool().query("select pg_notify($1, $2)", [ACTIVITY_CHANNEL, webhookId]);
  await expect.poll(() => shownBy(first), { timeout: 15_000 }).toEqual([seen]);
  await ending.stop();
  await first.ended;
  const [missed] = await queueDeliveries(webhookId, about);
  const last = [...first.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
  const second = await follow(addresses[1], last);
  await expect.poll(() => shownBy(second), { timeout: 15_000 }).toContain(missed);
});
