import { z } from "zod";

/** A public URL on the service for a receiver that has none of its own. @group Relay */
export const relayRecordSchema = z.object({
  name: z.string(),
  /** Anybody who knows the URL can send requests to it. */
  url: z.string(),
  createdAt: z.string(),
  /** 72 hours after the last renewal. */
  expiresAt: z.string(),
  isListening: z.boolean(),
  /** The number of requests that no listener has received yet. */
  waiting: z.number(),
});
export type RelayRecord = z.infer<typeof relayRecordSchema>;

export const openedRelaySchema = z.object({
  relay: relayRecordSchema,
  /** The URL that the relay had before it expired. */
  previousUrl: z.string().optional(),
  /** The caller's webhooks that still have the previous URL. */
  staleWebhooks: z.array(z.object({ id: z.string(), url: z.string() })).optional(),
});
export type OpenedRelay = z.infer<typeof openedRelaySchema>;

/** The number of headers that Node accepts in one response. */
const HEADERS_MAX = 2_000;
const headerListSchema = z.array(z.tuple([z.string(), z.string()])).max(HEADERS_MAX);

/** A request as the stream contains it. @group Relay */
export const relayedRequestSchema = z.object({
  id: z.string(),
  method: z.string(),
  /** The path after the token, with the query. */
  path: z.string(),
  /** The headers in the order in which they were sent. A name may occur several times. */
  headers: headerListSchema,
  bodyBase64: z.string(),
  receivedAt: z.string(),
  /** Whether the request was kept. The sender then does not wait for the response. */
  isFromInbox: z.boolean(),
});

export const relayAnswerSchema = z.object({
  status: z.number().int(),
  headers: headerListSchema.default([]),
  bodyBase64: z.string().default(""),
});
