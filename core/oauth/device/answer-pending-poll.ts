import type { IncomingHttpHeaders } from "node:http";
import { errors } from "oidc-provider";
import { DEVICE_CODE_GRANT } from "../client-of-app.ts";
import { findClientMetadata } from "../clients.ts";
import { ProtocolError } from "../protocol-request.ts";
import { pollArtifact } from "./poll-artifact.ts";
import { slowDown } from "./poll-device-code.ts";
import { countTooFastPoll } from "./poll-flood.ts";

const FIELDS: ReadonlySet<string> = new Set(["grant_type", "device_code", "client_id"]);
const pending = new errors.AuthorizationPending();

/**
 * Nearly all polls find no answer yet. For a public client the engine adds nothing to that but its cost, which `npm run bench` shows, so
 * those polls end here. The engine handles all others.
 * @throws ProtocolError `authorization_pending`, `slow_down`
 */
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

/** Three fields, each once, and no client authentication (S40). */
function isPlainPoll(headers: IncomingHttpHeaders, form: URLSearchParams): boolean {
  if (form.get("grant_type") !== DEVICE_CODE_GRANT || headers.authorization !== undefined || headers.dpop !== undefined)
    return false;
  return form.size === FIELDS.size && [...FIELDS].every((field) => form.get(field)) && !form.get("device_code")?.includes("\0");
}
