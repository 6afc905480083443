import { type EventAction, type EventScope, repoTypes } from "@keyhook/sdk";
import { z } from "zod";
import { EVENT_REFS_MAX_BYTES } from "../git/refs/record-ref-changes.ts";
import { isRefName } from "../git/refs/ref-name.ts";
import { DESCRIPTION_MAX_CHARACTERS } from "../repos/repo-settings.ts";
import { externalIdSchema, fullNameSchema } from "./mirror.ts";

const TITLE_MAX_CHARACTERS = 1_000;
const CONTENT_MAX_CHARACTERS = 200_000;
const REFS_MAX = 10_000;
const URL_MAX_CHARACTERS = 2_000;

const url = z.url({ protocol: /^https?$/ }).max(URL_MAX_CHARACTERS);

/** Git writes forty zeros for a missing ref. */
const sha = z
  .string()
  .regex(/^[0-9a-f]{40}$/, "must be 40 hex digits, or null")
  .nullable()
  .transform((text) => (text === null || /^0+$/.test(text) ? null : text));

const repo = z
  .object({
    id: z
      .string()
      .regex(/^[0-9a-f]{24}$/, "must be the repository's id here; send the platform's own id as externalId")
      .optional(),
    externalId: externalIdSchema.optional(),
    type: z.enum(repoTypes).default("model"),
    name: fullNameSchema.optional(),
    headSha: z
      .string()
      .regex(/^[0-9a-f]{40}$/, "must be 40 hex digits")
      .nullish(),
  })
  .refine(({ id, externalId, name }) => id ?? externalId ?? name, "name the repository by id, externalId, or type and name");

export type RepoReference = z.infer<typeof repo>;

const person = z
  .object({ name: z.string().min(1).max(100).optional(), id: externalIdSchema.optional() })
  .refine(({ name, id }) => name ?? id, "send name or id");

const discussion = z.object({
  id: externalIdSchema.optional(),
  num: z.int().positive().max(2_147_483_647),
  title: z.string().max(TITLE_MAX_CHARACTERS),
  status: z.enum(["draft", "open", "closed", "merged"]),
  isPullRequest: z.boolean().default(false),
  author: person,
  url: z.object({ web: url, api: url.optional() }),
  changes: z
    .object({
      base: z.string().max(500),
      mergeCommitId: z
        .string()
        .regex(/^[0-9a-f]{40}$/, "must be 40 hex digits")
        .optional(),
    })
    .optional(),
  pinned: z.boolean().optional(),
});

const comment = z.object({
  id: externalIdSchema,
  author: person,
  content: z.string().max(CONTENT_MAX_CHARACTERS).optional(),
  hidden: z.boolean().default(false),
  url: z.object({ web: url }),
});

const updatedRef = z.object({ ref: z.string().max(500).startsWith("refs/", "must be a full name"), oldSha: sha, newSha: sha });

const updatedConfig = z
  .object({
    private: z.boolean().optional(),
    description: z.string().max(DESCRIPTION_MAX_CHARACTERS).nullish(),
    defaultBranch: z.string().refine(isRefName, "is not the name of a branch").optional(),
  })
  .catchall(z.json());

const schemas = {
  "repo create": z.object({ repo: z.looseObject({ externalId: externalIdSchema }) }),
  "repo update": z.object({ repo }),
  "repo delete": z.object({ repo }),
  "repo move": z.object({ repo, movedTo: z.object({ name: fullNameSchema }) }),
  "repo.content update": z.object({ repo, updatedRefs: z.array(updatedRef).min(1).max(REFS_MAX) }),
  "repo.config update": z.object({ repo, updatedConfig }),
  "discussion create": z.object({ repo, discussion, comment: comment.optional() }),
  "discussion update": z.object({ repo, discussion }),
  "discussion delete": z.object({ repo, discussion }),
  "discussion.comment create": z.object({ repo, discussion, comment }),
  "discussion.comment update": z.object({ repo, discussion, comment }),
  "discussion.comment delete": z.object({ repo, discussion, comment }),
} as const;

export type EventKind = keyof typeof schemas;
export type EventData<K extends EventKind = EventKind> = { [Kind in K]: { kind: Kind } & z.output<(typeof schemas)[Kind]> }[K];
export type EventPerson = z.infer<typeof person>;
export type EventDiscussion = z.infer<typeof discussion>;
export type EventComment = z.infer<typeof comment>;

export const eventKinds = Object.keys(schemas) as EventKind[];

/** The kind at the end of a CloudEvents `type`, such as `com.example.repo.content.update`. */
export function kindOfType(type: string): EventKind | undefined {
  return eventKinds.find((kind) => {
    const ending = kind.replace(" ", ".");
    return type === ending || type.endsWith(`.${ending}`);
  });
}

export const eventOf = (kind: EventKind): { scope: EventScope; action: EventAction } => {
  const [scope, action] = kind.split(" ") as [EventScope, EventAction];
  return { scope, action };
};

/** Created once, because Zod compiles each new schema at its first use. */
const limited = new Map(
  eventKinds.map((kind) => [
    kind,
    (schemas[kind] as z.ZodType<object>).refine(
      (found) => Buffer.byteLength(JSON.stringify(found)) <= EVENT_REFS_MAX_BYTES,
      "is longer than 256 KiB: send several events",
    ),
  ]),
);

export function parseEventData(kind: EventKind, data: unknown): z.ZodSafeParseResult<EventData> {
  const parsed = (limited.get(kind) as z.ZodType<object>).safeParse(data);
  return (parsed.success ? { success: true, data: { kind, ...parsed.data } } : parsed) as z.ZodSafeParseResult<EventData>;
}
