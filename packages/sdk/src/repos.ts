import { z } from "zod";
import { runtimeSchema } from "./spaces.ts";

/** The types of repositories (docs/specification/repositories-and-git.md). @group Repositories */
export const repoTypes = ["model", "dataset", "space"] as const;
export type RepoType = (typeof repoTypes)[number];

/** Whether a value is a type of repository. @group Repositories */
export function isRepoType(text: unknown): text is RepoType {
  return (repoTypes as readonly unknown[]).includes(text);
}

/** The segment for a type in URLs of the API: `/api/models/…`. @group Repositories */
export const apiSegments = { model: "models", dataset: "datasets", space: "spaces" } as const satisfies Record<RepoType, string>;

/** The type of a segment of an API path, such as `models`. @group Repositories */
export function repoTypeOfSegment(segment: string): RepoType | undefined {
  return repoTypes.find((type) => apiSegments[type] === segment);
}

/** The path of a repository in URLs of pages and of git: `/owner/name` for a model, `/datasets/owner/name` for a dataset. @group Repositories */
export function repoPath(type: RepoType, fullName: string): string {
  return type === "model" ? `/${fullName}` : `/${apiSegments[type]}/${fullName}`;
}

/** The path of a repository in the API. @group Repositories */
export function repoApiPath(type: RepoType, fullName: string): string {
  return `/api/${apiSegments[type]}/${fullName}`;
}

/**
 * Who may read the content of a public repository: everybody, everybody who requests access, or users who were accepted.
 * @group Repositories
 */
export const gates = ["none", "auto", "manual"] as const;
export type Gate = (typeof gates)[number];

// ---- the HTTP API (docs/specification/repositories-and-git.md) -------------------------------------------------------------

/** A repository as existing clients read it. Numbers that the service does not count are 0. @group Repositories */
export const repoSchema = z.object({
  _id: z.string().meta({ description: "The repository's id; `id` is its name." }),
  id: z.string().meta({ description: "`owner/name`" }),
  modelId: z.string().optional(),
  author: z.string(),
  sha: z.string().optional().meta({ description: "The commit of the default branch; absent if the repository is empty." }),
  private: z.boolean(),
  gated: z.union([z.literal(false), z.enum(["auto", "manual"])]),
  disabled: z.boolean(),
  discussionsDisabled: z.boolean(),
  readOnly: z.boolean(),
  defaultBranch: z.string(),
  description: z.string().optional(),
  lastModified: z.string(),
  createdAt: z.string(),
  likes: z.number(),
  downloads: z.number(),
  tags: z.array(z.string()),
  cardData: z.record(z.string(), z.unknown()).optional(),
  pipeline_tag: z.string().optional(),
  library_name: z.string().optional(),
  sdk: z.string().optional(),
  subdomain: z.string().optional(),
});
export type RepoJson = z.infer<typeof repoSchema>;

/** `GET …/{owner}/{name}` @group Repositories */
export const repoInfoSchema = repoSchema.extend({
  usedStorage: z.number(),
  siblings: z
    .array(
      z.object({
        rfilename: z.string(),
        size: z.number().optional(),
        blobId: z.string().optional(),
        lfs: z.object({ sha256: z.string(), size: z.number(), pointerSize: z.number() }).optional(),
      }),
    )
    .optional()
    .meta({
      description: "Absent if all file names together are too long for one response. In that case, read the tree page by page.",
    }),
  host: z.string().optional().meta({ description: "The URL of a Space's app." }),
  runtime: runtimeSchema.optional(),
});
export type RepoInfoJson = z.infer<typeof repoInfoSchema>;

/** The field `type` of a body. If it is absent, it means a model. @group Repositories */
export const repoTypeFieldSchema = z
  .enum(repoTypes, { error: "choose model, dataset or space; this service has no other types" })
  .nullish()
  .meta({ description: "Default: model." });

/** The URL, name and ID of a repository that was created or moved. @group Repositories */
export const repoPlaceSchema = z.object({ url: z.string(), name: z.string(), id: z.string() });

const organization = z
  .string()
  .nullish()
  .meta({ description: "The handle of the owner, a user or an organization. Default: the token's user." });

/** A file with its content, in a body. @group Repositories */
export const newFileSchema = z.object({
  path: z.string(),
  content: z.string(),
  encoding: z.enum(["utf-8", "base64"]).nullish(),
});

/** `POST /api/repos/create`. The service also accepts `files`, of `newFileSchema`. @group Repositories */
export const newRepoSchema = z.object({
  name: z.string(),
  organization,
  type: repoTypeFieldSchema,
  visibility: z.enum(["public", "private"]).nullish().meta({
    description: "Newer clients send `visibility`, older ones `private`. Default: the organization's setting; public for a user.",
  }),
  private: z.boolean().nullish(),
  sdk: z.string().nullish().meta({ description: "For a Space: `static` or `node`; others are stored but do not run." }),
  license: z.string().nullish().meta({ description: "The license in the front matter of the generated README.md." }),
  autoInit: z.boolean().nullish().meta({
    description:
      "Whether to generate a .gitattributes, and a README.md for a Space or with `license`. Set it to false to push an existing repository. Default: true.",
  }),
});

/** `DELETE /api/repos/delete` @group Repositories */
export const deletedRepoSchema = z.object({ name: z.string(), organization, type: repoTypeFieldSchema });

/** `POST /api/repos/move` @group Repositories */
export const movedRepoSchema = z.object({
  fromRepo: z.string().meta({ description: "`owner/name`" }),
  toRepo: z.string().meta({ description: "`owner/name`" }),
  type: repoTypeFieldSchema,
});

const environmentSchema = z
  .array(z.object({ key: z.string(), value: z.string(), description: z.string().nullish() }))
  .max(100)
  .nullish();

/** `POST …/duplicate` @group Repositories */
export const duplicatedRepoSchema = z.object({
  repository: z.string().meta({ description: "`owner/name` of the copy." }),
  visibility: z.enum(["public", "private"]).nullish(),
  private: z.boolean().nullish(),
  secrets: environmentSchema.meta({ description: "For a Space: secrets of the copy." }),
  variables: environmentSchema.meta({ description: "For a Space: variables of the copy." }),
});

/**
 * `PUT …/settings`. The fields have the names that events use (`updatedConfig`). Newer clients send `visibility` instead of `private`.
 * @group Repositories
 */
export const repoSettingsSchema = z.object({
  visibility: z.enum(["public", "private"]).optional(),
  private: z.boolean().optional(),
  gated: z.union([z.literal(false), z.enum(["auto", "manual"])]).optional(),
  gatePrompt: z.string().nullish(),
  description: z.string().nullish(),
  sdk: z.string().nullish(),
  defaultBranch: z.string().optional(),
  readOnly: z.boolean().optional(),
  defaultBranchProtected: z.boolean().optional(),
  discussionsDisabled: z.boolean().optional(),
});

/** An entry at a path of a repository. `unknown` is a submodule. @group Repositories */
export const treeEntrySchema = z.object({
  type: z.enum(["file", "directory", "unknown"]),
  oid: z.string(),
  size: z.number(),
  path: z.string(),
  lfs: z.object({ oid: z.string(), size: z.number(), pointerSize: z.number() }).optional(),
  xetHash: z
    .string()
    .optional()
    .meta({ description: "The hash by which Xet clients download the file. Absent if they should download it over HTTP." }),
  lastCommit: z.object({ id: z.string(), title: z.string(), date: z.string() }).optional(),
});

export const xetTokenSchema = z.object({
  casUrl: z.string().meta({ description: "The URL of the Xet API for this repository." }),
  accessToken: z.string(),
  exp: z.number().meta({ description: "When the token expires, in seconds since 1970." }),
});

export const commitSchema = z.object({
  id: z.string(),
  title: z.string(),
  message: z.string().meta({ description: "The commit message without its title." }),
  authors: z.array(z.object({ user: z.string(), avatar: z.string().optional() })),
  date: z.string(),
  parents: z.array(z.string()),
  formatted: z
    .object({ title: z.string(), message: z.string() })
    .optional()
    .meta({ description: "The title and the message as HTML." }),
});

const refSchema = z.object({ name: z.string(), ref: z.string(), targetCommit: z.string() });
/** `GET …/refs` @group Repositories */
export const refsSchema = z.object({
  branches: z.array(refSchema),
  tags: z.array(refSchema),
  converts: z.array(refSchema),
  pullRequests: z.array(refSchema).optional(),
});

/** `POST …/branch/{branch}` @group Repositories */
export const newBranchSchema = z.object({
  startingPoint: z
    .string()
    .nullish()
    .meta({ description: "The revision from which the branch starts. Default: the default branch." }),
  emptyBranch: z.boolean().nullish().meta({ description: "Whether the branch starts with a commit without files." }),
  overwrite: z.boolean().nullish(),
});

/** `POST …/super-squash/{branch}` @group Repositories */
export const squashSchema = z.object({ message: z.string().nullish() });

/** `POST …/tag/{rev}` @group Repositories */
export const newTagSchema = z.object({
  tag: z.string(),
  message: z
    .string()
    .nullish()
    .meta({ description: "The message of an annotated tag. Without it, the tag is a lightweight one." }),
});

/** A branch or a tag that a request created, and the commit to which it points. @group Repositories */
export const madeRefSchema = z.object({ ref: z.string(), commitOid: z.string() });

/** `POST …/commit/{rev}` @group Repositories */
export const committedSchema = z.object({
  success: z.literal(true),
  commitOid: z.string(),
  commitUrl: z.string(),
  hookOutput: z.string(),
  pullRequestUrl: z.string().optional(),
});

/** `POST …/preupload/{rev}` @group Repositories */
export const uploadPlanSchema = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      uploadMode: z.enum(["regular", "lfs"]),
      shouldIgnore: z.boolean(),
      oid: z
        .string()
        .optional()
        .meta({ description: "The current file at the path: its blob id, or its SHA-256 if it is in Git LFS." }),
    }),
  ),
});

/** An item of `GET /api/users/{name}/likes` @group Repositories */
export const likeSchema = z.object({
  createdAt: z.string(),
  repo: z.object({ name: z.string(), type: z.enum(repoTypes) }),
});

/** An item of `GET …/likers` @group Repositories */
export const likerSchema = z.object({ user: z.string(), fullname: z.string(), avatarUrl: z.url() });

/** `POST /api/validate-yaml` @group Repositories */
export const frontMatterSchema = z.object({ content: z.string(), repoType: z.enum(repoTypes).default("model") });
const messages = z.array(z.object({ message: z.string() }));
export const frontMatterCheckSchema = z.object({ errors: messages, warnings: messages });
