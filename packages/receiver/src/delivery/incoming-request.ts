/** A request, from whichever server: making a `Request` of each would cost more than all that is done with it. */
export type IncomingRequest = {
  method: string;
  /** Whole. */
  url: string;
  /** Decoded no further than it came, without the query. */
  path: string;
  header(name: string): string | undefined;
  headers(): Headers;
  /** @throws RefusedError 413 when it is larger, 408 when it takes longer */
  body(limits: { maxBytes: number; timeoutMs: number }): Promise<Uint8Array>;
  /** The visitor's address, where the server knows. */
  remoteAddress?: string | undefined;
  /** Of the same request, for those who like it better. */
  asRequest(): Request;
};

export type Answer = { status: number; body: string; headers?: Record<string, string> };

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  body: JSON.stringify(value) ?? "null",
  headers: { "content-type": "application/json", ...headers },
});

/** What is refused, with the answer that says so. */
export class RefusedError extends Error {
  readonly answer: Answer;
  constructor(status: number, sentence: string, headers: Record<string, string> = {}) {
    super(sentence);
    this.answer = json(status, { error: sentence }, headers);
  }
}
