import { z } from "@hono/zod-openapi";
import { eventPayloadSchema, type TestKind, testKinds } from "@keyhook/sdk";
import type { ApiDocument, ApiParameter, ApiSchema } from "#core/api-document.ts";
import { env } from "#core/env.ts";

const REFERENCE = "WebhookReference";

const summaries: Record<TestKind, string> = {
  "repo.create": "A repository was created",
  "repo.update": "A platform reported a change of a repository that no other kind of event covers",
  "repo.delete": "A repository was deleted",
  "repo.move": "A repository was renamed or moved to another owner",
  "repo.content.update": "Commits were pushed, or branches, tags or pull requests changed",
  "repo.config.update": "Settings of a repository were changed",
  "discussion.create": "A discussion or a pull request was opened",
  "discussion.update": "The status, title, pin or lock of a discussion or a pull request changed, or a pull request was merged",
  "discussion.delete": "A discussion was deleted",
  "discussion.comment.create": "A comment was added",
  "discussion.comment.update": "A comment was edited or hidden",
  "discussion.comment.delete": "A comment was deleted",
};

/** The names are in the order of the union in the SDK. */
const names = [
  "RepositoryEvent",
  "RepositoryMovedEvent",
  "RepositoryContentEvent",
  "RepositoryConfigEvent",
  "DiscussionOpenedEvent",
  "DiscussionEvent",
  "CommentEvent",
] as const;

export const eventSchemas = Object.fromEntries(
  eventPayloadSchema.options.map((schema, at) => [
    names[at] ?? `Event${at}`,
    // The schema of arbitrary JSON refers to itself, which the generator would follow without end.
    "updatedConfig" in schema.shape ? schema.extend({ updatedConfig: z.record(z.string(), z.unknown()) }) : schema,
  ]),
);

const ref = (name: string): ApiSchema => ({ $ref: `#/components/schemas/${name}` });

export const payloadSchemas: Record<string, ApiSchema> = {
  EventPayload: {
    description: "What changed. `event.scope` and `event.action` identify the kind of event.",
    anyOf: names.map(ref),
  },
  WebhookPayload: {
    description: "The body of a request to a webhook's URL: the event, and the webhook that sends it.",
    allOf: [ref("EventPayload"), ref(REFERENCE)],
  },
  [REFERENCE]: {
    type: "object",
    description: "The webhook that sends the payload, and the payload's version.",
    properties: {
      webhook: {
        type: "object",
        properties: { id: { type: "string", pattern: "^[0-9a-f]{24}$" }, version: { type: "number", enum: [3] } },
        required: ["id", "version"],
      },
    },
    required: ["webhook"],
  },
};

const header = (name: string, description: string, example: string, required = true): ApiParameter => ({
  name,
  in: "header",
  ...(required && { required }),
  description,
  schema: { type: "string" },
  example,
});

const headers: ApiParameter[] = [
  header("webhook-id", "Identifies the delivery. Every retry and replay has the same value.", "5f9c1e2ab7d04c3e8f6a1b20"),
  header("webhook-timestamp", "The time of this attempt, in seconds since 1970.", "1794787200"),
  header(
    "webhook-signature",
    "Standard Webhooks: `v1,` and the HMAC of id, timestamp and body; two signatures, separated by a space, while a secret is being rotated.",
    "v1,…",
    false,
  ),
  header("X-Webhook-Test", "`true`: a user sent a test. The event in it did not happen.", "true", false),
  header("X-Webhook-Replay", "`true`: a user replayed the delivery.", "true", false),
  header("X-Webhook-Secret", "The webhook's current secret in plain text, if the webhook has one.", "…", false),
];

export function describeEvents(): ApiDocument["webhooks"] {
  const { BRAND_NAME } = env();
  return Object.fromEntries(
    testKinds.map((kind) => [
      kind,
      {
        post: {
          operationId: `on${kind.replace(/(^|\.)(\w)/g, (_, _dot, letter: string) => letter.toUpperCase())}`,
          tags: ["Webhooks"],
          summary: summaries[kind],
          description: `What ${BRAND_NAME} sends to the webhook's URL. Domain: \`${kind.split(".")[0]}\`.`,
          security: [],
          parameters: headers,
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: { allOf: [ref(schemaOf(kind)), ref(REFERENCE)] },
              },
            },
          },
          responses: {
            "2XX": { description: "Accepted. The Activity view shows the response's body." },
            "4XX": { description: "Rejected. The service retries the delivery, except after `410`, which disables the webhook." },
            "5XX": { description: "Failed. The service retries the delivery." },
          },
        },
      },
    ]),
  );
}

function schemaOf(kind: TestKind): string {
  const at = kind.lastIndexOf(".");
  const event = { scope: kind.slice(0, at), action: kind.slice(at + 1) };
  const index = eventPayloadSchema.options.findIndex((option) => option.shape.event.safeParse(event).success);
  return names[index] ?? "RepositoryEvent";
}
