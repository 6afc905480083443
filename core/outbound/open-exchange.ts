import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { Client } from "undici";
import { log } from "../log.ts";
import type { Deadline } from "./deadline.ts";
import { type AllowAddress, isAllowedAddress } from "./is-allowed-address.ts";
import { openConnection, openTls } from "./open-connection.ts";
import { parseTarget, type Target } from "./parse-target.ts";
import { OutboundFailure, type OutboundRequest, type OutboundTimings } from "./request.ts";
import { requestHeaders } from "./request-headers.ts";
import type { ResolveHost } from "./resolve-host.ts";

const MAX_HEADER_BYTES = 32 * 1024;
/** The connection ends with the exchange. */
const ONE_EXCHANGE = { reset: true, responseHeaders: "raw" } as const;

export type ExchangeRequest = Pick<OutboundRequest, "url" | "method" | "headers" | "body" | "ports" | "isHttpsRequired">;

/** A request that was sent and the head of its answer; the body is still to come. */
export type Exchange = {
  status: number;
  headers: Record<string, string>;
  body: Readable;
  timings: Omit<OutboundTimings, "totalMs">;
  /** Ends the connection; whatever has not come by then never does. */
  close(): void;
};

/**
 * The host is resolved once, every address of it is vetted, the connection goes to a vetted one, and the deadline bounds it all.
 * What is thrown is for `failureOf`; nothing is left open then.
 *
 * Each request has a connection of its own. When connections are to be kept, keep the `Client` under origin and vetted
 * address and look it up between vetting and dialling, so that what is reused was vetted for this request as well.
 */
export async function openExchange(
  request: ExchangeRequest,
  deadline: Deadline,
  resolve: ResolveHost,
  allows: AllowAddress = isAllowedAddress,
): Promise<Exchange> {
  const { signal } = deadline;
  let socket: Socket | undefined;
  let client: Client | undefined;
  const close = () => {
    // Not the socket first: undici holds an assertion about one that closes under it without an error.
    client?.destroy().catch(() => undefined);
    socket?.destroy();
  };
  try {
    const target = parseTarget(request);
    const headers = requestHeaders(request.headers);

    deadline.enter("no name server answered in time");
    const addresses = await vettedAddresses(target, resolve, signal, allows);
    const dnsMs = deadline.enter("the connection timed out");
    socket = await openConnection(target, addresses, signal, allows);
    const connectMs = deadline.enter("the secure connection was not made in time");
    if (target.isTls) socket = await openTls(socket, target, signal);
    const tlsMs = deadline.enter("no answer came in time");

    deadline.endConnecting();
    client = clientOver(socket, target);
    const { method = "GET", body } = request;
    const answer = await client.request({ ...ONE_EXCHANGE, method, path: target.path, headers, body, signal });
    const firstByteMs = deadline.enter("the answer did not end in time");
    return {
      status: answer.statusCode,
      headers: headersOf(answer.headers as unknown as string[]),
      body: answer.body,
      timings: { dnsMs, connectMs, tlsMs: target.isTls ? tlsMs : null, firstByteMs },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

async function vettedAddresses(
  { host }: Target,
  resolve: ResolveHost,
  signal: AbortSignal,
  allows: AllowAddress,
): Promise<string[]> {
  const addresses = await resolve(host, signal);
  const refused = addresses.find((address) => !allows(address));
  if (refused === undefined) return addresses;
  // For the operator, who may want to allow it; who chose the host learns only that it is not public.
  log().info({ host, address: refused }, "outbound request refused: OUTBOUND_ALLOW_CIDRS does not hold this address");
  throw OutboundFailure.blocked("the host is not on the public internet");
}

/** An HTTP client on the open connection, which never makes another in its place. */
function clientOver(socket: Socket, { origin }: Target): Client {
  let vetted: Socket | undefined = socket;
  return new Client(origin, {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0, // the deadline bounds both
    bodyTimeout: 0,
    connect: (_options, done) => {
      const given = vetted;
      vetted = undefined;
      const used = Object.assign(new Error("The connection has been used."), { code: "ECONNRESET" });
      process.nextTick(() => (given ? done(null, given) : done(used, null)));
    },
  });
}

/** @param raw names and values in turn, which cannot hit upon a name that objects have already. */
function headersOf(raw: string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = String(raw[index]).toLowerCase();
    const before = headers.get(name);
    headers.set(name, before === undefined ? String(raw[index + 1]) : `${before}, ${raw[index + 1]}`);
  }
  return Object.fromEntries(headers);
}
