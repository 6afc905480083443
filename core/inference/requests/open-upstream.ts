import { isAllowedAddress, isAllowedOrOwnAddress } from "../../outbound/is-allowed-address.ts";
import { type StreamedResult, streamRequest } from "../../outbound/stream-request.ts";
import { openKey } from "../providers/provider.ts";

export type Upstream = { baseUrl: string; sealedApiKey: Uint8Array | null; isOwnNetworkAllowed: boolean };

export type UpstreamRequest = {
  /** After the base URL, such as `/chat/completions`. */
  path: string;
  /** JSON; a request without one is a GET. */
  body?: string;
  isStreamed?: boolean;
  idleMs: number;
  deadlineMs: number;
  signal?: AbortSignal;
};

/**
 * Opens a request to a provider, with its key and only the body of the original request: no token, no cookie, no address of the client.
 * core/outbound decides where it may connect, as for any address that somebody else chose.
 */
export function openUpstream(
  { baseUrl, sealedApiKey, isOwnNetworkAllowed }: Upstream,
  { path, body, isStreamed, ...bounds }: UpstreamRequest,
): Promise<StreamedResult> {
  const key = openKey(sealedApiKey);
  return streamRequest({
    url: baseUrl + path,
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: isStreamed ? "text/event-stream" : "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== null && { authorization: `Bearer ${key}` }),
    },
    ...(body !== undefined && { body }),
    allows: isOwnNetworkAllowed ? isAllowedOrOwnAddress : isAllowedAddress,
    ...bounds,
  });
}
