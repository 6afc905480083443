import { env } from "../../env.ts";
import { log } from "../../log.ts";
import { loggableAddress } from "../../outbound/parse-target.ts";
import { sendRequest } from "../../outbound/send-request.ts";

const MAX_BODY_BYTES = 256 * 1024;
const DEADLINE_MS = 4_000;

export class ProviderUnreachable extends Error {
  override name = "ProviderUnreachable";
}

type FetchOptions = { method?: string; headers?: Record<string, string>; body?: URLSearchParams | null | undefined };

/** Local installations allow plain http and any port. */
export function isLocalInstallation(): boolean {
  const { hostname } = new URL(env().ORIGIN);
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname.startsWith("127.") || hostname === "[::1]";
}

/** An organization's administrator may name any address, so only port 443 is allowed for organizations (S117). */
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
