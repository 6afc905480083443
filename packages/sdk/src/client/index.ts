export { ApiError } from "./api-error.ts";
export { type Client, createClient } from "./create-client.ts";
export type { ServerSentEvent } from "./event-stream.ts";
export { EventStreamParser } from "./event-stream.ts";
export type { JobLogLine } from "./job-log.ts";
export type { JobHardware, JobSearch, NewJob, NewSchedule, ScheduleTimes } from "./jobs.ts";
export { type Page, type Paged, paged } from "./paged.ts";
export { reconnecting } from "./reconnecting.ts";
export type {
  ClientOptions,
  Method,
  Query,
  RequestOptions,
  SendOptions,
  StreamOptions,
  TokenSource,
  Transport,
} from "./transport.ts";
export type { LiveActivity, NewWebhook, ReplayRange, WebhookChanges } from "./webhooks.ts";
export type { WhoAmI } from "./whoami.ts";
export type { Asked, Whose } from "./whose.ts";
