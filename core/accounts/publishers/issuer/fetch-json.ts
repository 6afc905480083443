import { env } from "../../../env.ts";
import { log } from "../../../log.ts";
import { loggableAddress } from "../../../outbound/loggable-address.ts";
import { sendRequest } from "../../../outbound/send-request.ts";

/** Ten times the largest key sets of public issuers. */
const MAX_BODY_BYTES = 128 * 1024;
/** A job waits meanwhile, for two of these in turn. */
const DEADLINE_MS = 2_500;

export type FetchedJson = {
  value: Record<string, unknown>;
  /** From the response's Cache-Control; undefined if it says nothing. */
  maxAgeSeconds: number | undefined;
};

/** Why an issuer's document cannot be used: a clause for the person who chose the issuer. */
export class IssuerUnusable extends Error {
  override name = "IssuerUnusable";
}

/**
 * Fetches a JSON object by https, through the guard against non-public addresses (S98, S117). Redirects are not followed: the
 * issuer's host is trusted, but not hosts to which it points. @throws IssuerUnusable
 */
export async function fetchJson(url: string, what: string): Promise<FetchedJson> {
  const result = await sendRequest({
    url,
    headers: { accept: "application/json" },
    deadlineMs: DEADLINE_MS,
    maxBodyBytes: MAX_BODY_BYTES,
    onExcess: "fail",
    isHttpsRequired: true,
    ports: isOnOneMachine() ? undefined : [443],
  });
  if (result.outcome !== "answered") {
    log().info({ address: loggableAddress(url), reason: result.reason }, "an issuer's document could not be fetched");
    throw new IssuerUnusable(`${what} could not be read: ${result.reason}`);
  }
  if (result.status !== 200) throw new IssuerUnusable(`${what} could not be read: the server answered ${result.status}`);
  const value = parseObject(result.body);
  if (!value) throw new IssuerUnusable(`${what} is not a JSON object`);
  const [, maxAge] = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(result.headers["cache-control"] ?? "") ?? [];
  return { value, maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge) };
}

/** On a developer's machine an issuer may use any port, like everything else there. */
function isOnOneMachine(): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(env().ORIGIN).hostname) || env().OUTBOUND_ALLOW_CIDRS.length > 0;
}

function parseObject(body: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
