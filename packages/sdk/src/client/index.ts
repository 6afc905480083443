export type { Asked, Whose } from "./addresses.ts";
export { type RepoRef, readRepo } from "./addresses.ts";
export { ApiError } from "./api-error.ts";
export type { AppsClient } from "./apps.ts";
export type { AuditLogClient, AuditLogEntry, AuditLogQuery } from "./audit-log.ts";
export type { WhoAmI } from "./create-client.ts";
export { type Client, createClient } from "./create-client.ts";
export type {
  CommentRecord,
  DiscussionDetail,
  DiscussionFilter,
  DiscussionRecord,
  DiscussionsClient,
  NewDiscussion,
} from "./discussions.ts";
export type { ServerSentEvent } from "./event-stream.ts";
export { EventStreamParser } from "./event-stream.ts";
export type { JobLogLine } from "./job-log.ts";
export type { JobHardware, JobSearch, JobsClient, NewJob, NewSchedule, ScheduleTimes } from "./jobs.ts";
export type { MemberRecord, OrganizationRecord, OrganizationsClient } from "./organizations.ts";
export { type Page, type Paged, paged } from "./paged.ts";
export { reconnecting } from "./reconnecting.ts";
export type { NewRepo, RepoFilter, RepoPlace, RepoRecord, RepoSettings, ReposClient } from "./repos.ts";
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
export type { LiveActivity, NewWebhook, ReplayRange, WebhookChanges, WebhooksClient } from "./webhooks.ts";
