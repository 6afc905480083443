import { OutboundFailure } from "./request.ts";

const NO_HTTP = "the answer is not the HTTP that was expected";

const reasons: Record<string, string> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed before the answer was complete",
  EPIPE: "the connection was closed before the answer was complete",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: "the connection was closed before the answer was complete",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the connection was closed before the answer was complete",
  EHOSTUNREACH: "no way leads to the host",
  ENETUNREACH: "no way leads to the host",
  EADDRNOTAVAIL: "no way leads to the host",
  UND_ERR_HEADERS_OVERFLOW: "the headers of the answer are longer than 32 KiB",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate comes from no authority that is trusted here",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate comes from no authority that is trusted here",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate comes from no authority that is trusted here",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate comes from no authority that is trusted here",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate comes without those that link it to an authority that is trusted here",
};

const kinds: [RegExp, string][] = [
  [/^UND_ERR_/, NO_HTTP],
  [/^(Z_|ERR__ERROR_FORMAT|ERR_BROTLI)/, "the body of the answer cannot be decompressed"],
  [
    /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO$|CERT_|CRL_|UNABLE_|INVALID_|HOSTNAME_|ERROR_IN_|PATH_LENGTH_|UNSPECIFIED$)/,
    "no secure connection could be made",
  ],
  [/^(E[A-Z0-9]+)$/, "the connection failed"],
];

/** Turns an error into what the person who chose the address may see. An error without a known code is our bug and is rethrown. */
export function failureOf(error: unknown): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  // Several addresses were tried in turn; the first one's error is as good as any.
  const [first] = error instanceof AggregateError ? error.errors : [error];
  const { code, name } = Object(first) as { code?: unknown; name?: unknown };
  if (name === "HTTPParserError") return OutboundFailure.unreachable(NO_HTTP);
  if (typeof code !== "string") throw error;
  const reason = reasons[code] ?? kinds.find(([pattern]) => pattern.test(code))?.[1];
  if (!reason) throw error;
  return code === "ETIMEDOUT" ? OutboundFailure.timedOut("the connection timed out") : OutboundFailure.unreachable(reason);
}
