/** Requests to addresses that others chose must use this folder (S117–S121). Errors other than OutboundFailure are bugs. */
export type OutboundRequest = {
  /** http or https, absolute. A fragment is not sent. */
  url: string;
  method?: "GET" | "POST";
  /** Framing headers and `host` are refused. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** The deadline for DNS, connect, TLS, headers and body together (S120). */
  deadlineMs: number;
  /** The part of the deadline for DNS, connect and TLS. The default is 5,000. */
  connectMs?: number;
  /** Bytes after decompression. */
  maxBodyBytes: number;
  /** With "cut", the bytes that were read are kept and marked (S120). */
  onExcess: "fail" | "cut";
  /** By default, all ports are allowed. */
  ports?: readonly number[];
  isHttpsRequired?: boolean;
  /** A request that fails on a reused connection is not sent again (see `isStale`). */
  isConnectionKept?: boolean;
};

/** Milliseconds. `firstByteMs` ends with the head of the response. A phase that did not happen is null. */
export type OutboundTimings = {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number;
  totalMs: number;
};

/** A `reason` is a clause for the person who chose the address. It names no other address. */
export type OutboundResult =
  | {
      outcome: "answered";
      /** Redirects are never followed. */
      status: number;
      /** Names in lower case, at most 32 KiB together (S121). Repeated headers are joined by a comma. */
      headers: Record<string, string>;
      /** Decompressed if the encoding was gzip, deflate or br. */
      body: Uint8Array;
      isCut: boolean;
      isReused: boolean;
      timings: OutboundTimings;
    }
  /** Refused before any connection: the address, the port, the scheme or a header is not allowed. */
  | { outcome: "blocked"; reason: string }
  | {
      outcome: "unreachable";
      reason: string;
      isTimeout: boolean;
      /** The request failed on a reused connection. The other side may have accepted the request. */
      isStale?: true;
    };

/** The body of a streamed response throws this error. */
export class OutboundFailure extends Error {
  override name = "OutboundFailure";
  readonly result: Exclude<OutboundResult, { outcome: "answered" }>;

  private constructor(result: OutboundFailure["result"]) {
    super(result.reason);
    this.result = result;
  }

  static blocked(reason: string): OutboundFailure {
    return new OutboundFailure({ outcome: "blocked", reason });
  }

  static unreachable(reason: string): OutboundFailure {
    return new OutboundFailure({ outcome: "unreachable", reason, isTimeout: false });
  }

  static stale(): OutboundFailure {
    const reason = "the reused connection was closed before a response arrived";
    return new OutboundFailure({ outcome: "unreachable", reason, isTimeout: false, isStale: true });
  }

  static timedOut(reason: string): OutboundFailure {
    return new OutboundFailure({ outcome: "unreachable", reason, isTimeout: true });
  }
}

export function isOutboundFailure(error: unknown): error is OutboundFailure {
  return error instanceof Error && error.name === "OutboundFailure";
}

import packageJson from "../../package.json" with { type: "json" };

/** A caller that sets one of these could split a request into two, or reach another site. */
const own = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A line break in a value would inject another header. */
export function requestHeaders(given: Record<string, string> = {}): Record<string, string> {
  const headers: Record<string, string> = {
    "user-agent": `Keyhook/${packageJson.version}`,
    accept: "*/*",
    "accept-encoding": "identity",
  };
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(key) || own.has(key))
      throw OutboundFailure.blocked("one of the headers must not be set");
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw OutboundFailure.blocked(`the header ${key} contains characters that cannot be sent`);
    headers[key] = value;
  }
  return headers;
}

const NO_HTTP = "the response is not valid HTTP";

const reasons: Record<string, string> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed before the response was complete",
  EPIPE: "the connection was closed before the response was complete",
  UND_ERR_SOCKET: "the connection was closed before the response was complete",
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: "the connection was closed before the response was complete",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the connection was closed before the response was complete",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to the host",
  EADDRNOTAVAIL: "there is no route to the host",
  UND_ERR_HEADERS_OVERFLOW: "the headers of the response are longer than 32 KiB",
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another name",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the server's certificate is not from a trusted authority",
  SELF_SIGNED_CERT_IN_CHAIN: "the server's certificate is not from a trusted authority",
  UNABLE_TO_GET_ISSUER_CERT: "the server's certificate is not from a trusted authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the server's certificate is not from a trusted authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the server's certificate chain is incomplete",
};

const kinds: [RegExp, string][] = [
  [/^UND_ERR_/, NO_HTTP],
  [/^(Z_|ERR__ERROR_FORMAT|ERR_BROTLI)/, "the body of the response cannot be decompressed"],
  [
    /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO$|CERT_|CRL_|UNABLE_|INVALID_|HOSTNAME_|ERROR_IN_|PATH_LENGTH_|UNSPECIFIED$)/,
    "no secure connection could be established",
  ],
  [/^(E[A-Z0-9]+)$/, "the connection failed"],
];

/** An error without a known code is a bug of this service, and is thrown again. */
export function failureOf(error: unknown): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  // The other errors describe the same failure at other addresses.
  const [first] = error instanceof AggregateError ? error.errors : [error];
  const { code, name } = Object(first) as { code?: unknown; name?: unknown };
  if (name === "HTTPParserError") return OutboundFailure.unreachable(NO_HTTP);
  if (typeof code !== "string") throw error;
  const reason = reasons[code] ?? kinds.find(([pattern]) => pattern.test(code))?.[1];
  if (!reason) throw error;
  return code === "ETIMEDOUT" ? OutboundFailure.timedOut("the connection timed out") : OutboundFailure.unreachable(reason);
}
