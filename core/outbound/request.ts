/**
 * The only way out to an address that somebody else chose: webhook targets, metadata documents, logos, key sets, logout
 * notices (S117–S121). Expected outcomes are values; what is thrown is a mistake of ours.
 */
export type OutboundRequest = {
  /** http or https, absolute. A fragment is not sent. */
  url: string;
  method?: "GET" | "POST";
  /**
   * `user-agent` is `Keyhook/<version>` and `accept-encoding` is `identity` unless given. Those that frame the message or
   * choose the host are not the caller's to set.
   */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** One deadline over DNS, connect, TLS, headers and body (S120). */
  deadlineMs: number;
  /** Of it, for DNS, connect and TLS; 5 s unless given. */
  connectMs?: number;
  /** Counted after decompression. */
  maxBodyBytes: number;
  /** What a longer body means: the request fails, or what has come is kept and marked (S120). */
  onExcess: "fail" | "cut";
  /** Ports that may be dialled; all of them unless given. */
  ports?: readonly number[];
  /** Refuses plain http. */
  isHttpsRequired?: boolean;
  /**
   * Sends over a connection that was kept after an earlier request where there is one, and keeps this one. A POST that is lost with
   * such a connection is not sent again: `isStale` tells.
   */
  isConnectionKept?: boolean;
};

/**
 * Whole milliseconds, each of one phase; `firstByteMs` is from a connection that is ready to the head of the answer. A connection that
 * was open already took none of the first three.
 */
export type OutboundTimings = {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number;
  totalMs: number;
};

/** A `reason` is a clause that may be shown to whoever chose the address; it names no address that they did not name. */
export type OutboundResult =
  | {
      outcome: "answered";
      /** As it came: a redirect is an answer like any other and is never followed. */
      status: number;
      /** Names in lower case; of at most 32 KiB together (S121). What came several times is joined by a comma. */
      headers: Record<string, string>;
      /** Decompressed, if it came gzip, deflate or br. */
      body: Uint8Array;
      isCut: boolean;
      /** Sent over a connection that was open already. */
      isReused: boolean;
      timings: OutboundTimings;
    }
  /** Refused before any connection: the address, the port, the scheme or a header is not allowed. */
  | { outcome: "blocked"; reason: string }
  /** "the name does not resolve", "the connection was refused", "the answer is longer than 5120 bytes". */
  | {
      outcome: "unreachable";
      reason: string;
      isTimeout: boolean;
      /**
       * A connection that had been kept ended before a byte of the answer came: the other side may have closed it as the request was
       * on its way, and have seen nothing of it, or may have taken it.
       */
      isStale?: true;
    };

/**
 * How a request ends without an answer, or an answer without its end. Requests make a value of it; only the body of `streamRequest`
 * throws it to the outside.
 */
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
    const reason = "the connection, which had been kept open, was closed before an answer came";
    return new OutboundFailure({ outcome: "unreachable", reason, isTimeout: false, isStale: true });
  }

  static timedOut(reason: string): OutboundFailure {
    return new OutboundFailure({ outcome: "unreachable", reason, isTimeout: true });
  }
}

export function isOutboundFailure(error: unknown): error is OutboundFailure {
  return error instanceof Error && error.name === "OutboundFailure";
}
