import { z } from "zod";
import { repoTypes } from "./repos.ts";

/** 24 hex digits. */
const id = z.string().regex(/^[0-9a-f]{24}$/);
const sha = z.string().regex(/^[0-9a-f]{40}$/);
const url = z.url({ protocol: /^https?$/ });
const owner = z.object({ id });

/** The repository at the time when the event was recorded. */
const repo = z.object({
  type: z.enum(repoTypes),
  /** `owner/name` */
  name: z.string(),
  id,
  private: z.boolean(),
  url: z.object({ web: url, api: url }),
  owner,
  /** The commit of the default branch. Only if the scope begins with `repo`, and absent for an empty repository. */
  headSha: sha.optional(),
  /** Only for a Space. */
  subdomain: z.string().optional(),
  tags: z.array(z.string()).optional(),
});

const discussion = z.object({
  id,
  title: z.string(),
  /** A bot replies by posting a comment to `api` + `/comment`. */
  url: z.object({ web: url, api: url }),
  status: z.enum(["draft", "open", "closed", "merged"]),
  author: z.object({ id }),
  num: z.int().positive(),
  isPullRequest: z.boolean(),
  /** Only for a pull request. */
  changes: z.object({ base: z.string(), mergeCommitId: sha.optional() }).optional(),
  pinned: z.boolean().optional(),
});

const comment = z.object({
  id,
  author: z.object({ id }),
  /** Absent if the comment is hidden. */
  content: z.string().optional(),
  hidden: z.boolean(),
  url: z.object({ web: url }),
});

/** `oldSha` is null if the push created the ref, `newSha` if the push deleted the ref. */
const updatedRef = z.object({ ref: z.string(), oldSha: sha.nullable(), newSha: sha.nullable() });

const event = <Scope extends string, Action extends string>(scope: Scope, ...actions: [Action, ...Action[]]) =>
  z.object({ scope: z.literal(scope), action: z.enum(actions) });

/** Webhook payload version 3. Treat an unknown scope as an `update` of the broader scope before the last dot. */
const kinds = [
  z.object({ event: event("repo", "create", "delete", "update"), repo }),
  z.object({ event: event("repo", "move"), repo, movedTo: z.object({ name: z.string(), owner }) }),
  z.object({ event: event("repo.content", "update"), repo, updatedRefs: z.array(updatedRef) }),
  /** Every setting that changed, by name, with its new value. */
  z.object({ event: event("repo.config", "update"), repo, updatedConfig: z.record(z.string(), z.json()) }),
  z.object({ event: event("discussion", "create"), repo, discussion, comment: comment.optional() }),
  z.object({ event: event("discussion", "update", "delete"), repo, discussion }),
  z.object({ event: event("discussion.comment", "create", "update", "delete"), repo, discussion, comment }),
] as const;

/** A recorded event: a webhook payload without `webhook`. @group Webhooks that arrive */
export const eventPayloadSchema = z.union(kinds);
export type EventPayload = z.infer<typeof eventPayloadSchema>;

/** The payload that a receiver gets: the event, and the webhook that sent it. @group Webhooks that arrive */
export const webhookPayloadSchema = eventPayloadSchema.and(z.object({ webhook: z.object({ id, version: z.literal(3) }) }));
export type WebhookPayload = z.infer<typeof webhookPayloadSchema>;

export const eventScopes = ["repo", "repo.content", "repo.config", "discussion", "discussion.comment"] as const;
export type EventScope = (typeof eventScopes)[number];
export const eventActions = ["create", "update", "delete", "move"] as const;
export type EventAction = (typeof eventActions)[number];

/** The domains that a webhook can choose. `repo` covers each scope that begins with it. @group Webhooks that arrive */
export const eventDomains = ["repo", "discussion"] as const;
export type EventDomain = (typeof eventDomains)[number];

/** The domain to which a scope of events belongs. @group Webhooks that arrive */
export function domainOf(scope: EventScope): EventDomain {
  return scope.startsWith("repo") ? "repo" : "discussion";
}

type KindOf<Payload, Scope, Action> = Payload extends { event: { scope: Scope; action: infer Actions } }
  ? [Action] extends [Actions]
    ? Payload
    : never
  : never;

/**
 * Whether the event is of this kind. Then it has the fields of such events. TypeScript does not narrow the union by a comparison of
 * `payload.event.scope`, because that is a nested property.
 * @group Webhooks that arrive
 */
export function isEvent<Payload extends EventPayload, Scope extends EventScope, Action extends EventAction = never>(
  payload: Payload,
  scope: Scope,
  action?: Action,
): payload is KindOf<Payload, Scope, Action> {
  return payload.event.scope === scope && (action === undefined || payload.event.action === action);
}
