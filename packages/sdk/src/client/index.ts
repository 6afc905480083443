export { ApiError } from "./api-error.ts";
export type { AuditLogEntry, AuditLogQuery } from "./audit-log.ts";
export { type Client, createClient } from "./create-client.ts";
export type { CommentRecord, DiscussionDetail, DiscussionFilter, DiscussionRecord, NewDiscussion } from "./discussions.ts";
export type { ServerSentEvent } from "./event-stream.ts";
export { EventStreamParser } from "./event-stream.ts";
export type { JobLogLine } from "./job-log.ts";
export type { JobHardware, JobSearch, NewJob, NewSchedule, ScheduleTimes } from "./jobs.ts";
export type { MemberRecord, OrganizationRecord } from "./organizations.ts";
export { type Page, type Paged, paged } from "./paged.ts";
export { reconnecting } from "./reconnecting.ts";
export { type RepoRef, readRepo } from "./repo-address.ts";
export type { NewRepo, RepoFilter, RepoPlace, RepoRecord, RepoSettings } from "./repos.ts";
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
