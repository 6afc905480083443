import {
  attemptSchema,
  deliveryDetailSchema,
  deliveryPageSchema,
  deliverySchema,
  errorBodySchema,
  jobAnswerSchema,
  jobBodySchema,
  jobSpecAnswerSchema,
  listedOAuthAppSchema,
  newOAuthAppSchema,
  newWebhookSchema,
  oauthAppChangesSchema,
  oauthAppSchema,
  openedRelaySchema,
  relayAnswerSchema,
  relayRecordSchema,
  replayAnswerSchema,
  scheduledJobAnswerSchema,
  scheduledJobBodySchema,
  watchedItemSchema,
  webhookChangesSchema,
  webhookChartSchema,
  webhookReplaySchema,
  webhookSchema,
  whoamiJobSchema,
  whoamiOrganizationSchema,
  whoamiSchema,
} from "@keyhook/sdk";
import { collectionSchema, listedCollectionSchema } from "../routes/collections/collection-json.ts";
import { fileSchema } from "../routes/commits/commit-lines.ts";
import { commitSchema, refsSchema } from "../routes/content/history.ts";
import { repoInfoSchema } from "../routes/content/repo-info.ts";
import { entrySchema } from "../routes/content/tree.ts";
import { commentSchema, discussionSchema, eventSchema } from "../routes/discussions/discussion-json.ts";
import { repoSchema } from "../routes/repos/repo-json.ts";
import { runtimeSchema } from "../routes/spaces/space-json.ts";
import { ERROR_SCHEMA } from "./errors.ts";
import { eventSchemas } from "./events.ts";

/** The names, in the document and in clients generated from it, of schemas that are more than the body of one operation. */
export const namedSchemas = {
  [ERROR_SCHEMA]: errorBodySchema,
  User: whoamiSchema,
  CiJob: whoamiJobSchema,
  OrganizationMembership: whoamiOrganizationSchema,
  Repository: repoSchema,
  RepositoryInfo: repoInfoSchema,
  SpaceRuntime: runtimeSchema,
  TreeEntry: entrySchema,
  Commit: commitSchema,
  Refs: refsSchema,
  NewFile: fileSchema,
  Discussion: discussionSchema,
  Comment: commentSchema,
  TimelineEvent: eventSchema,
  Collection: collectionSchema,
  ListedCollection: listedCollectionSchema,
  Job: jobAnswerSchema,
  JobSpec: jobSpecAnswerSchema,
  NewJob: jobBodySchema,
  ScheduledJob: scheduledJobAnswerSchema,
  NewScheduledJob: scheduledJobBodySchema,
  Webhook: webhookSchema,
  NewWebhook: newWebhookSchema,
  WebhookChanges: webhookChangesSchema,
  WatchedItem: watchedItemSchema,
  Delivery: deliverySchema,
  DeliveryPage: deliveryPageSchema,
  DeliveryDetail: deliveryDetailSchema,
  DeliveryAttempt: attemptSchema,
  WebhookChart: webhookChartSchema,
  WebhookReplay: webhookReplaySchema,
  ReplayAnswer: replayAnswerSchema,
  OAuthApp: oauthAppSchema,
  ListedOAuthApp: listedOAuthAppSchema,
  NewOAuthApp: newOAuthAppSchema,
  OAuthAppChanges: oauthAppChangesSchema,
  Relay: relayRecordSchema,
  OpenedRelay: openedRelaySchema,
  RelayAnswer: relayAnswerSchema,
  ...eventSchemas,
};
