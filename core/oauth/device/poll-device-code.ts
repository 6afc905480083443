import type { IncomingHttpHeaders } from "node:http";
import { errors, Provider } from "oidc-provider";
import { pool } from "../../db.ts";
import { batched } from "../../postgres/batched.ts";
import { type ArtifactRow, selectArtifact } from "../artifacts/artifact-rows.ts";
import { idHash, isForged, type Payload, toPayload } from "../artifacts/artifact-store.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { DEVICE_CODE_GRANT } from "../grant-types.ts";
import { POLL_INTERVAL_SECONDS } from "../lifetimes.ts";
import { ProtocolError } from "../protocol-request.ts";
import { IS_ANSWERED } from "./claim-device-code.ts";

/**
 * RFC 8628 §3.5. Once the user has decided, a device that polls too fast gets its answer too (S61).
 * @throws SlowDown if the device polls faster than its interval and the user has not decided (S60)
 */
export async function pollDeviceCode(id: string): Promise<Payload | undefined> {
  const clientId = Provider.ctx?.oidc.client?.clientId ?? "";
  const polled = await pollArtifact(id, clientId);
  // The engine has its own error for another client's code (S63).
  if (!polled || polled.payload.clientId !== clientId) return polled?.payload;
  const { payload, pace } = polled;
  if (pace?.isTooFast) {
    countTooFastPoll(id);
    throw new errors.SlowDown(slowDown(pace));
  }
  if (payload.error === "access_denied") throw new errors.AccessDenied(String(payload.errorDescription));
  return payload;
}

/** The RFC leaves the new interval to the device, so the text names it. */
const slowDown = ({ intervalSeconds }: { intervalSeconds: number }): string =>
  `polled too fast; wait ${intervalSeconds} seconds between polls`;

const FIELDS: ReadonlySet<string> = new Set(["grant_type", "device_code", "client_id"]);
const pending = new errors.AuthorizationPending();

/** Most polls find no answer yet. For these, the engine would only add cost. */
export async function answerPendingPoll(headers: IncomingHttpHeaders, form: URLSearchParams, clientId: string): Promise<void> {
  if (!isPlainPoll(headers, form)) return;
  const client = await findClientMetadata(clientId);
  const isPublic = client?.token_endpoint_auth_method === "none" && !client.dpop_bound_access_tokens;
  if (!isPublic || !client.grant_types?.includes(DEVICE_CODE_GRANT)) return;
  const deviceCode = form.get("device_code") ?? "";
  const pace = (await pollArtifact(deviceCode, clientId))?.pace;
  if (!pace) return;
  if (!pace.isTooFast) throw new ProtocolError(400, pending.error, pending.error_description ?? "");
  countTooFastPoll(deviceCode);
  throw new ProtocolError(400, "slow_down", slowDown(pace));
}

/** See S40. */
function isPlainPoll(headers: IncomingHttpHeaders, form: URLSearchParams): boolean {
  if (form.get("grant_type") !== DEVICE_CODE_GRANT || headers.authorization !== undefined || headers.dpop !== undefined)
    return false;
  return form.size === FIELDS.size && [...FIELDS].every((field) => form.get(field)) && !form.get("device_code")?.includes("\0");
}

/** After this many early polls, a device gets its responses without the database, except once a second (S61). */
export const TOO_FAST_POLLS = 20;
const WINDOW_MS = 10_000;
const CHECK_MS = 1_000;
const ENTRIES_MAX = 10_000;

type Entry = { count: number; resetAt: number; nextCheckAt: number };
const floods = new Map<string, Entry>();

function countTooFastPoll(deviceCode: string): void {
  const now = Date.now();
  const key = idHash(deviceCode);
  const entry = floods.get(key);
  if (entry && entry.resetAt > now) {
    entry.count += 1;
    return;
  }
  if (floods.size >= ENTRIES_MAX) floods.clear();
  floods.set(key, { count: 1, resetAt: now + WINDOW_MS, nextCheckAt: 0 });
}

export function refusePollFlood(form: URLSearchParams): void {
  const deviceCode = form.get("device_code");
  if (floods.size === 0 || !deviceCode || form.get("grant_type") !== DEVICE_CODE_GRANT) return;
  const now = Date.now();
  const entry = floods.get(idHash(deviceCode));
  if (!entry || entry.count < TOO_FAST_POLLS || entry.resetAt <= now) return;
  if (entry.nextCheckAt > now) throw new ProtocolError(400, "slow_down", "polled too fast and too often");
  entry.nextCheckAt = now + CHECK_MS;
}

/** A poll may be this much too early, because the previous one may have been delayed. */
const POLL_TOLERANCE_SECONDS = 0.5;

type Poll = { hash: string; clientId: string };
type PolledRow = ArtifactRow & { interval_seconds: number | null; is_too_fast: boolean };

/**
 * Rows are written in the order of their keys, so that two processes cannot deadlock. Postgres before version 18 cannot return
 * the old row. So a longer interval marks an early poll.
 */
function pollStatement(size: number): string {
  const placeholders = Array.from({ length: size }, (_, at) => [`$${4 + 2 * at}`, `$${5 + 2 * at}`] as const);
  const isOwn = placeholders.map(([hash, client]) => `(id_hash = ${hash} AND payload ->> 'clientId' = ${client})`).join(" OR ");
  return `WITH artifact AS (${selectArtifact(`a.id_hash IN (${placeholders.map(([hash]) => hash).join(", ")})`)}),
    polled AS (
      INSERT INTO oauth_device_poll AS p (id_hash, polled_at, interval_seconds)
      SELECT id_hash, now(), $2::int FROM artifact
        WHERE NOT ${IS_ANSWERED} AND (payload ->> 'exp')::float8 > extract(epoch FROM now()) AND (${isOwn})
        ORDER BY id_hash
      ON CONFLICT (id_hash) DO UPDATE SET polled_at = greatest(p.polled_at, excluded.polled_at),
        interval_seconds = p.interval_seconds + CASE
          WHEN excluded.polled_at < p.polled_at + make_interval(secs => p.interval_seconds - $3::float8) THEN $2 ELSE 0 END
      RETURNING id_hash, interval_seconds)
    SELECT artifact.*, polled.interval_seconds,
        coalesce(polled.interval_seconds > coalesce(before.interval_seconds, $2), false) AS is_too_fast
      FROM artifact LEFT JOIN polled USING (id_hash) LEFT JOIN oauth_device_poll before USING (id_hash)`;
}

// Postgres would plan a statement with an array again for each length.
const statements = [1, 2, 4, 8, 16].map((size) => ({ size, name: `device-codes-poll-${size}`, text: pollStatement(size) }));
const LARGEST = 16;

async function pollAll(polls: Poll[]): Promise<(PolledRow | undefined)[]> {
  const isFirst = polls.map(({ hash }, at) => polls.findIndex((other) => other.hash === hash) === at);
  const rows = await pollEach(polls.filter((_, at) => isFirst[at]));
  const repeated = polls.filter((_, at) => !isFirst[at]);
  const later = repeated.length > 0 ? await pollAll(repeated) : [];
  return isFirst.map((first) => (first ? rows.shift() : later.shift()));
}

async function pollEach(polls: Poll[]): Promise<(PolledRow | undefined)[]> {
  const { size, name, text } = statements.find((each) => each.size >= polls.length) as (typeof statements)[number];
  const padded = Array.from({ length: size }, (_, at) => (polls[at] ?? polls[0]) as Poll);
  const asked = padded.flatMap(({ hash, clientId }) => [hash, clientId]);
  const values = ["DeviceCode", POLL_INTERVAL_SECONDS, POLL_TOLERANCE_SECONDS, ...asked];
  const { rows } = await pool().query<PolledRow>({ name, text, values });
  const byHash = new Map(rows.map((row) => [row.id_hash, row]));
  return polls.map(({ hash }) => byHash.get(hash));
}

const poll = batched(pollAll, LARGEST);

type PolledArtifact = {
  payload: Payload;
  pace?: { isTooFast: boolean; intervalSeconds: number };
};

async function pollArtifact(id: string, clientId: string): Promise<PolledArtifact | undefined> {
  if (isForged(id)) return undefined;
  const row = await poll({ hash: idHash(id), clientId });
  if (!row) return undefined;
  const payload = toPayload(row, id);
  const { interval_seconds: intervalSeconds, is_too_fast: isTooFast } = row;
  // The engine set the expiry by this process's clock.
  const isOver = Number(payload.exp) * 1000 <= Date.now();
  return intervalSeconds === null || isOver ? { payload } : { payload, pace: { isTooFast, intervalSeconds } };
}
