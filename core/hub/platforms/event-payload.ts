import { hash } from "node:crypto";
import type { EventPayload } from "@keyhook/sdk";
import { discussionApiUrl } from "../discussions/record-discussion-event.ts";
import { repoPayload } from "../repos/repo.ts";
import { type EventComment, type EventData, type EventDiscussion, type EventPerson, eventOf } from "./event-data.ts";
import type { Mirrored, NamedOwner } from "./mirror.ts";
import type { Platform } from "./platform.ts";

type Of<Scope extends string> = Extract<EventPayload, { event: { scope: Scope } }>;

export type PayloadContext = {
  platform: Platform;
  repo: Mirrored;
  movedTo?: { name: string; owner: { id: string } };
  owners: Map<string, NamedOwner>;
};

/** Like the payload of a repository that is hosted here (docs/specification/webhooks.md#payload). */
export function eventPayload(data: EventData, context: PayloadContext): EventPayload {
  const { repo: known } = context;
  const event = eventOf(data.kind);
  const repo = repoPayload(known, { isContent: event.scope.startsWith("repo") });
  switch (data.kind) {
    case "repo move":
      return { event, repo, movedTo: context.movedTo } as Of<"repo">;
    case "repo.content update":
      return { event, repo, updatedRefs: data.updatedRefs } as Of<"repo.content">;
    case "repo.config update":
      return { event, repo, updatedConfig: data.updatedConfig } as Of<"repo.config">;
    case "discussion create":
    case "discussion.comment create":
    case "discussion.comment update":
    case "discussion.comment delete": {
      const comment = data.comment && { comment: commentOf(data.comment, context) };
      return { event, repo, discussion: discussionOf(data.discussion, context), ...comment } as Of<"discussion.comment">;
    }
    case "discussion update":
    case "discussion delete":
      return { event, repo, discussion: discussionOf(data.discussion, context) } as Of<"discussion">;
    default:
      return { event, repo } as Of<"repo">;
  }
}

function discussionOf(described: EventDiscussion, context: PayloadContext): Of<"discussion.comment">["discussion"] {
  const { platform, repo } = context;
  const { id, num, title, status, isPullRequest, author, url, changes, pinned } = described;
  return {
    id: idFor(platform, "discussion", id ?? `${repo.externalId}#${num}`),
    title,
    url: { web: url.web, api: url.api ?? discussionApiUrl(repo, num) },
    status,
    author: { id: personId(author, context) },
    num,
    isPullRequest,
    ...(changes && { changes }),
    ...(pinned !== undefined && { pinned }),
  };
}

function commentOf(described: EventComment, context: PayloadContext): Of<"discussion.comment">["comment"] {
  const { id, author, content, hidden, url } = described;
  return {
    id: idFor(context.platform, "comment", id),
    author: { id: personId(author, context) },
    ...(!hidden && content !== undefined && { content }),
    hidden,
    url,
  };
}

function personId({ name, id }: EventPerson, { owners, platform }: PayloadContext): string {
  const user = name === undefined ? undefined : owners.get(name.toLowerCase());
  return user?.kind === "user" ? user.id : idFor(platform, "person", id ?? name ?? "");
}

/** Equal arguments give equal IDs (docs/specification/README.md#conventions). */
function idFor(platform: Platform, kind: "discussion" | "comment" | "person", own: string): string {
  return hash("sha256", JSON.stringify([platform.id, kind, own]), "hex").slice(0, 24);
}
