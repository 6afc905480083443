import { OpenAPIHono, type z } from "@hono/zod-openapi";
import {
  attemptSchema,
  collectionSchema,
  commentSchema,
  commitSchema,
  deliveryDetailSchema,
  deliveryPageSchema,
  deliverySchema,
  discussionSchema,
  errorBodySchema,
  jobAnswerSchema,
  jobBodySchema,
  jobSpecAnswerSchema,
  listedCollectionSchema,
  listedOAuthAppSchema,
  newFileSchema,
  newOAuthAppSchema,
  newWebhookSchema,
  oauthAppChangesSchema,
  oauthAppSchema,
  openedRelaySchema,
  refsSchema,
  relayAnswerSchema,
  relayRecordSchema,
  replayAnswerSchema,
  repoInfoSchema,
  repoSchema,
  runtimeSchema,
  scheduledJobAnswerSchema,
  scheduledJobBodySchema,
  timelineEventSchema,
  treeEntrySchema,
  watchedItemSchema,
  webhookChangesSchema,
  webhookChartSchema,
  webhookReplaySchema,
  webhookSchema,
  whoamiJobSchema,
  whoamiOrganizationSchema,
  whoamiSchema,
} from "@keyhook/sdk";
import type { ApiContent, ApiDocument, ApiSchema } from "#core/api-document.ts";
import { ERROR_SCHEMA } from "./errors.ts";
import { eventSchemas } from "./events.ts";

/** These names appear in generated clients. */
export const namedSchemas = {
  [ERROR_SCHEMA]: errorBodySchema,
  User: whoamiSchema,
  CiJob: whoamiJobSchema,
  OrganizationMembership: whoamiOrganizationSchema,
  Repository: repoSchema,
  RepositoryInfo: repoInfoSchema,
  SpaceRuntime: runtimeSchema,
  TreeEntry: treeEntrySchema,
  Commit: commitSchema,
  Refs: refsSchema,
  NewFile: newFileSchema,
  Discussion: discussionSchema,
  Comment: commentSchema,
  TimelineEvent: timelineEventSchema,
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

type Named = Record<string, ApiSchema>;

/** The generator names only schemas that are newer than itself. Ours may be older, so a response wraps each schema. */
export function generateSchemas(schemas: Record<string, z.ZodType>): Named {
  const app = new OpenAPIHono();
  for (const [name, schema] of Object.entries(schemas)) {
    const content = { "application/json": { schema } };
    app.openAPIRegistry.registerPath({ method: "get", path: `/${name}`, responses: { 200: { description: "", content } } });
  }
  const { paths } = app.getOpenAPI31Document({ openapi: "3.1.0", info: { title: "", version: "" } }) as unknown as ApiDocument;
  const schemaAt = (name: string) => paths[`/${name}`]?.get?.responses[200]?.content?.["application/json"]?.schema ?? {};
  return Object.fromEntries(Object.keys(schemas).map((name) => [name, schemaAt(name)]));
}

/** Replaces equal schemas by references to a named one. `families` maps an `operationId` to the name of equal bodies. */
export function nameSchemas(paths: ApiDocument["paths"], families: Record<string, string>, known: Named): Named {
  const named: Named = { ...known };
  const byText = new Map(Object.entries(known).map(([name, schema]) => [textOf(schema), name]));
  for (const operations of Object.values(paths)) {
    for (const { operationId = "", requestBody, responses } of Object.values(operations)) {
      const prefix = (families[operationId] ?? operationId).replace(/^./, (letter) => letter.toUpperCase());
      nameBodies(requestBody?.content, `${prefix}Request`);
      for (const [status, { content }] of Object.entries(responses)) {
        nameBodies(content, Number(status) < 300 ? `${prefix}Response` : `${prefix}${status}`);
      }
    }
  }
  for (const [name, schema] of Object.entries(named)) named[name] = within(schema);
  return named;

  function nameBodies(content: ApiContent | undefined, name: string): void {
    for (const media of Object.values(content ?? {})) {
      if (!media.schema) continue;
      if (isWorthAName(media.schema)) assignName(media.schema, name);
      if (media.schema.items && isWorthAName(media.schema.items)) assignName(media.schema.items, `${name}Item`);
      media.schema = refer(media.schema);
    }
  }

  function assignName(schema: ApiSchema, wanted: string): void {
    const text = textOf(schema);
    if (byText.has(text)) return;
    let name = wanted;
    for (let at = 2; named[name]; at++) name = `${wanted}${at}`;
    named[name] = schema;
    byText.set(text, name);
  }

  function refer(schema: ApiSchema): ApiSchema {
    const name = byText.get(textOf(schema));
    return name ? { $ref: `#/components/schemas/${name}` } : within(schema);
  }

  function within(schema: ApiSchema): ApiSchema {
    const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema;
    const result = { ...schema };
    if (properties) result.properties = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, refer(one)]));
    if (items) result.items = refer(items);
    if (additionalProperties && typeof additionalProperties === "object")
      result.additionalProperties = refer(additionalProperties);
    if (anyOf) result.anyOf = anyOf.map(refer);
    if (oneOf) result.oneOf = oneOf.map(refer);
    if (allOf) result.allOf = allOf.map(refer);
    return result;
  }
}

const isWorthAName = ({ properties, anyOf, oneOf }: ApiSchema): boolean =>
  Object.keys(properties ?? {}).length > 0 || (anyOf ?? oneOf ?? []).some(isWorthAName);

const textOf = (schema: ApiSchema): string => JSON.stringify(schema);
