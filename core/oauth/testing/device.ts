import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { noOrigin, type RequestOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import type { NewApp } from "../apps/create-app.ts";
import { idHash } from "../artifacts/artifact-store.ts";
import type { ConsentAnswer } from "../consents/store-answer.ts";
import { approveDevice, type DeviceRequest, openDeviceRequest } from "../device/answer-device.ts";
import { DEVICE_CODE_GRANT } from "../grant-types.ts";
import { asApp, type Prepared, prepare, type Tokens } from "./sign-in.ts";
import type { AnyWorld, TestApp } from "./world.ts";

export type DeviceAuthorization = {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
};

type Poll = { status: number; body: Tokens & { error?: string; error_description?: string } };

export function prepareDevice(world: AnyWorld, app: Partial<NewApp> = {}): Promise<Prepared> {
  return prepare(world, { redirectUris: [], isDeviceFlowAllowed: true, ...app });
}

export async function startDevice(
  { world, app }: { world: AnyWorld; app: TestApp },
  form: Record<string, string> = {},
): Promise<DeviceAuthorization> {
  const response = await asApp(world, app, "/oauth/device", form);
  const body = await response.json();
  if (response.status !== 200) throw new Error(`no device code: ${JSON.stringify(body)}`);
  return body as DeviceAuthorization;
}

export async function poll({ world, app }: { world: AnyWorld; app: TestApp }, deviceCode: string): Promise<Poll> {
  const response = await asApp(world, app, "/oauth/token", { grant_type: DEVICE_CODE_GRANT, device_code: deviceCode });
  return { status: response.status, body: (await response.json()) as Poll["body"] };
}

export function shownAnswer({ consent }: DeviceRequest, session: SiteSession): ConsentAnswer {
  return {
    scopes: consent.scopes.filter(({ isTicked }) => isTicked).map(({ scope }) => scope),
    orgIds: consent.organizations.filter(({ isTicked }) => isTicked).map(({ id }) => id),
    isAllOrgs: consent.isAllOrgs,
    accountId: session.user.id,
    fingerprint: consent.fingerprint,
  };
}

export async function allowDevice(
  session: SiteSession,
  userCode: string,
  answer: Partial<ConsentAnswer> = {},
  from: RequestOrigin = noOrigin,
): Promise<DeviceRequest> {
  const request = await openDeviceRequest(session, userCode, from);
  await approveDevice(session, userCode, { ...shownAnswer(request, session), ...answer }, from);
  return request;
}

export function expireDevice({ device_code }: DeviceAuthorization): Promise<void> {
  return expire("id_hash", idHash(device_code));
}

export function expireDevicesOf({ clientId }: TestApp): Promise<void> {
  return expire("payload->>'clientId'", clientId);
}

async function expire(column: string, value: unknown): Promise<void> {
  await pool().query(
    `UPDATE oauth_artifact SET expires_at = now() - interval '1 minute',
       payload = jsonb_set(payload, '{exp}', to_jsonb(extract(epoch FROM now())::int - 60))
     WHERE model = 'DeviceCode' AND ${column} = $1`,
    [value],
  );
}

export async function waitForInterval({ device_code }: DeviceAuthorization, seconds: number): Promise<void> {
  await pool().query("UPDATE oauth_device_poll SET polled_at = polled_at - make_interval(secs => $2) WHERE id_hash = $1", [
    idHash(device_code),
    seconds,
  ]);
}
