import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext, type TLSSocket } from "node:tls";
import ipaddr from "ipaddr.js";
import { type AllowAddress, isAllowedAddress } from "./is-allowed-address.ts";
import type { Target } from "./parse-target.ts";
import { OutboundFailure } from "./request.ts";

const ADDRESS_TIMEOUT_MS = 1_000;
/** Servers send two tickets after a handshake, some send four. */
const TICKETS_MAX = 32;
/** The limit for TLS itself, such as certificates, in addition to twice the bytes that TLS carries. */
const TLS_OWN_BYTES_MAX = 256 * 1024;

/** Does not look the name up again, so a change in DNS has no effect (S117). */
export async function openConnection(
  { host, port }: Target,
  addresses: string[],
  signal: AbortSignal,
  allows?: AllowAddress,
): Promise<Socket> {
  const socket = connectTcp({
    host,
    port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    noDelay: true,
    lookup: (_host, { all }, done) => {
      const vetted = addresses.map((address) => ({ address, family: isIP(address) }));
      if (all) done(null, vetted);
      else done(null, addresses[0] ?? "", isIP(addresses[0] ?? ""));
    },
  });
  await waitForEvent(socket, "connect", signal);
  checkPeer(socket, addresses, allows);
  return socket;
}

/** See S117. */
export function checkPeer(socket: Socket, addresses: string[], allows: AllowAddress = isAllowedAddress): void {
  const peer = socket.remoteAddress;
  const vetted = addresses.map((address) => ipaddr.process(address).toString());
  if (peer && allows(peer) && vetted.includes(ipaddr.process(peer).toString())) return;
  socket.destroy();
  throw OutboundFailure.unreachable(peer ? "the connection led to another address" : "the connection was closed at once");
}

export async function openTls(socket: Socket, { host }: Target, signal: AbortSignal): Promise<Socket> {
  const secured = connectTls({
    socket,
    host,
    // RFC 6066 §3. The certificate is still checked against `host`.
    servername: isIP(host) ? "" : host,
    secureContext: trustedCertificates(),
    ALPNProtocols: ["http/1.1"],
  });
  limitTlsMessages(secured, socket);
  await waitForEvent(secured, "secureConnect", signal);
  return secured;
}

/** Ends a connection with endless tickets or new keys (S137). TLS reads these itself, so no limit of a response counts them. */
function limitTlsMessages(secured: TLSSocket, socket: Socket): void {
  const end = () => secured.destroy(Object.assign(new Error("the host sends too many TLS messages"), { code: "EPROTO" }));
  let tickets = 0;
  secured.on("session", () => {
    tickets += 1;
    if (tickets > TICKETS_MAX) end();
  });
  const timer = setInterval(() => {
    if (socket.bytesRead > TLS_OWN_BYTES_MAX + 2 * secured.bytesRead) end();
  }, 50).unref();
  secured.once("close", () => clearInterval(timer));
}

let secureContext: SecureContext | undefined;

function trustedCertificates(): SecureContext {
  secureContext ??= createSecureContext({
    ca: [...new Set([...getCACertificates("default"), ...getCACertificates("system")])],
  });
  return secureContext;
}

function waitForEvent(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    const abort = () => fail(signal.reason);
    const close = () => fail(OutboundFailure.unreachable("the connection was closed at once"));
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);
    // A socket that is being destroyed may still emit an error.
    socket.on("error", fail);
    socket.once("close", close);
    socket.once(event, () => {
      signal.removeEventListener("abort", abort);
      socket.off("close", close);
      resolve();
    });
  });
}
