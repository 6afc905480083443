/**
 * The only way out to an address that somebody else chose: webhook targets, metadata documents, logos, key sets, logout
 * notices (S117–S121). Expected outcomes are values; what is thrown is a mistake of ours.
 */
export type OutboundRequest = {
  /** http or https, absolute. */
  url: string;
  method?: "GET" | "POST";
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
};

export type OutboundTimings = { dnsMs: number; connectMs: number; tlsMs: number | null; firstByteMs: number; totalMs: number };

export type OutboundResult =
  | {
      outcome: "answered";
      /** As it came: a redirect is an answer like any other and is never followed. */
      status: number;
      /** Names in lower case; of at most 32 KiB together (S121). */
      headers: Record<string, string>;
      body: Uint8Array;
      isCut: boolean;
      timings: OutboundTimings;
    }
  /** Refused before any connection: the address, the port or the scheme is not allowed. `reason` may be shown to whoever chose it. */
  | { outcome: "blocked"; reason: string }
  /** `reason` may be shown: "the name does not resolve", "the connection timed out", "the answer is longer than 5120 bytes". */
  | { outcome: "unreachable"; reason: string; isTimeout: boolean };
