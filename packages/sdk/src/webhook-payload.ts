import { z } from "zod";
import { repoTypes } from "./repos.ts";

/** An id of ours: 24 hex digits. */
const id = z.string().regex(/^[0-9a-f]{24}$/);
const sha = z.string().regex(/^[0-9a-f]{40}$/);
const url = z.url({ protocol: /^https?$/ });
const owner = z.object({ id });

/** Of a repository, as it is when the event is recorded. */
const repo = z.object({
  type: z.enum(repoTypes),
  /** `owner/name` */
  name: z.string(),
  id,
  private: z.boolean(),
  url: z.object({ web: url, api: url }),
  owner,
  /** The commit of the default branch; only where the scope begins with `repo`, and absent while there is none. */
  headSha: sha.optional(),
  /** Of a Space. */
  subdomain: z.string().optional(),
  tags: z.array(z.string()).optional(),
});

const discussion = z.object({
  id,
  title: z.string(),
  /** `api` + `/comment` takes a comment: this is how bots answer. */
  url: z.object({ web: url, api: url }),
  status: z.enum(["draft", "open", "closed", "merged"]),
  author: z.object({ id }),
  num: z.int().positive(),
  isPullRequest: z.boolean(),
  /** Of a pull request. */
  changes: z.object({ base: z.string(), mergeCommitId: sha.optional() }).optional(),
  pinned: z.boolean().optional(),
});

const comment = z.object({
  id,
  author: z.object({ id }),
  /** Absent of a hidden comment. */
  content: z.string().optional(),
  hidden: z.boolean(),
  url: z.object({ web: url }),
});

/** A ref that a push changed; `null` = made or deleted by it. */
const updatedRef = z.object({ ref: z.string(), oldSha: sha.nullable(), newSha: sha.nullable() });

const event = <Scope extends string, Action extends string>(scope: Scope, ...actions: [Action, ...Action[]]) =>
  z.object({ scope: z.literal(scope), action: z.enum(actions) });

/**
 * Each kind of event, told apart by `event.scope` (webhook payload version 3). More specific scopes may come: treat one that you
 * do not know as an `update` of the broader one before its dot.
 */
const kinds = [
  z.object({ event: event("repo", "create", "delete", "update"), repo }),
  z.object({ event: event("repo", "move"), repo, movedTo: z.object({ name: z.string(), owner }) }),
  z.object({ event: event("repo.content", "update"), repo, updatedRefs: z.array(updatedRef) }),
  /** Every setting that changed, by its name, with its new value. */
  z.object({ event: event("repo.config", "update"), repo, updatedConfig: z.record(z.string(), z.json()) }),
  z.object({ event: event("discussion", "create"), repo, discussion, comment: comment.optional() }),
  z.object({ event: event("discussion", "update", "delete"), repo, discussion }),
  z.object({ event: event("discussion.comment", "create", "update", "delete"), repo, discussion, comment }),
] as const;

/** What changed, as it is recorded: a webhook payload without `webhook`. */
export const eventPayloadSchema = z.union(kinds);
export type EventPayload = z.infer<typeof eventPayloadSchema>;

/** What a receiver gets: the event and the webhook that it comes from. */
export const webhookPayloadSchema = eventPayloadSchema.and(z.object({ webhook: z.object({ id, version: z.literal(3) }) }));
export type WebhookPayload = z.infer<typeof webhookPayloadSchema>;

export const eventScopes = ["repo", "repo.content", "repo.config", "discussion", "discussion.comment"] as const;
export type EventScope = (typeof eventScopes)[number];
export const eventActions = ["create", "update", "delete", "move"] as const;
export type EventAction = (typeof eventActions)[number];

/** What a webhook chooses among: `repo` covers each scope that begins with it. */
export const eventDomains = ["repo", "discussion"] as const;
export type EventDomain = (typeof eventDomains)[number];

export function domainOf(scope: EventScope): EventDomain {
  return scope.startsWith("repo") ? "repo" : "discussion";
}

type KindOf<Payload, Scope, Action> = Payload extends { event: { scope: Scope; action: infer Actions } }
  ? [Action] extends [Actions]
    ? Payload
    : never
  : never;

/**
 * Whether it is of this kind, with the fields that such events have. A comparison of `payload.event.scope` does not tell TypeScript:
 * it knows unions apart by properties of their own.
 */
export function isEvent<Payload extends EventPayload, Scope extends EventScope, Action extends EventAction = never>(
  payload: Payload,
  scope: Scope,
  action?: Action,
): payload is KindOf<Payload, Scope, Action> {
  return payload.event.scope === scope && (action === undefined || payload.event.action === action);
}
