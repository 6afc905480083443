/**
 * The only way to send requests to addresses that somebody else chose: webhook targets, metadata documents, logos, key sets,
 * logout notices (S117–S121). Expected outcomes are values; a thrown error is our bug.
 */
export type OutboundRequest = {
  /** http or https, absolute. A fragment is not sent. */
  url: string;
  method?: "GET" | "POST";
  /**
   * `user-agent` is `Keyhook/<version>` and `accept-encoding` is `identity` unless given. The caller cannot set headers that
   * frame the message or choose the host.
   */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** One deadline over DNS, connect, TLS, headers and body (S120). */
  deadlineMs: number;
  /** The part of it for DNS, connect and TLS; 5 s unless given. */
  connectMs?: number;
  /** Counted after decompression. */
  maxBodyBytes: number;
  /** What happens if the body is longer: the request fails, or the bytes read so far are kept and marked (S120). */
  onExcess: "fail" | "cut";
  /** Ports that may be dialled; all unless given. */
  ports?: readonly number[];
  /** Refuses plain http. */
  isHttpsRequired?: boolean;
  /**
   * Uses a connection kept after an earlier request if there is one, and keeps this one. A POST that is lost with such a
   * connection is not sent again: `isStale` says so.
   */
  isConnectionKept?: boolean;
};

/**
 * Whole milliseconds of each phase; `firstByteMs` is from the ready connection to the head of the response. With a reused
 * connection the first three are null.
 */
export type OutboundTimings = {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number;
  totalMs: number;
};

/** A `reason` is a clause that may be shown to the person who chose the address; it names no address that they did not name. */
export type OutboundResult =
  | {
      outcome: "answered";
      /** As received: a redirect is a response like any other and is never followed. */
      status: number;
      /** Names in lower case; at most 32 KiB together (S121). Repeated headers are joined by a comma. */
      headers: Record<string, string>;
      /** Decompressed if the encoding was gzip, deflate or br. */
      body: Uint8Array;
      isCut: boolean;
      /** Sent over an already open connection. */
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
       * A kept connection ended before the first byte of the response. The other side may have closed it while the request was
       * on its way and never seen it, or may have accepted it.
       */
      isStale?: true;
    };

/**
 * Why a request ended without a response, or a response without its end. Requests turn it into a value; only the body of
 * `streamRequest` throws it.
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
