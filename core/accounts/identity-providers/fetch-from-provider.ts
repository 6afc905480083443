import { env } from "../../env.ts";
import { log } from "../../log.ts";
import { loggableAddress } from "../../outbound/parse-target.ts";
import { sendRequest } from "../../outbound/send-request.ts";

/** Discovery documents and key sets are a few KiB, and so is a user's list of addresses at GitHub. */
const MAX_BODY_BYTES = 256 * 1024;
/** A user waits for up to four such requests. */
const DEADLINE_MS = 4_000;

/** A provider could not be reached. The reason is a clause for the person who configured its address. */
export class ProviderUnreachable extends Error {
  override name = "ProviderUnreachable";
}

type FetchOptions = { method?: string; headers?: Record<string, string>; body?: URLSearchParams | null | undefined };

/** Whether this is a local installation, where providers may use plain http and any port, like redirect URIs. */
export function isLocalInstallation(): boolean {
  const { hostname } = new URL(env().ORIGIN);
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname.startsWith("127.") || hostname === "[::1]";
}

/**
 * Sends requests to identity providers through core/outbound, since an organization's administrator may name any address (S117).
 * Except on a local installation, providers of organizations are contacted only at port 443; the operator's may use any port.
 * Redirects are not followed.
 */
export function fetchFrom({ orgId }: { orgId: string | null }) {
  return async (url: string, { method, headers = {}, body }: FetchOptions = {}): Promise<Response> => {
    const isLocal = isLocalInstallation();
    const { "user-agent": _library, ...asked } = headers;
    const result = await sendRequest({
      url,
      method: method === "POST" ? "POST" : "GET",
      headers: { ...asked, ...(body ? { "content-type": "application/x-www-form-urlencoded;charset=UTF-8" } : {}) },
      ...(body ? { body: body.toString() } : {}),
      deadlineMs: DEADLINE_MS,
      maxBodyBytes: MAX_BODY_BYTES,
      onExcess: "fail",
      isHttpsRequired: !isLocal,
      ports: isLocal || orgId === null ? undefined : [443],
    });
    if (result.outcome !== "answered") {
      log().info({ address: loggableAddress(url), reason: result.reason }, "an identity provider could not be reached");
      throw new ProviderUnreachable(result.reason);
    }
    const { "content-encoding": _encoding, "content-length": _length, ...rest } = result.headers;
    const hasBody = ![204, 205, 304].includes(result.status);
    return new Response(hasBody ? Buffer.from(result.body) : null, { status: result.status, headers: rest });
  };
}
