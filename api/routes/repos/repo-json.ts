import { z } from "@hono/zod-openapi";
import { type Repo, spaceSubdomain } from "#core/hub/repos/repo.ts";

/**
 * A repository as existing clients read it (docs/specification/repositories-and-git.md#the-repository-record); numbers not counted here are
 * 0.
 */
export const repoSchema = z.object({
  _id: z.string().openapi({ description: "The repository's id; `id` is its name." }),
  id: z.string().openapi({ description: "`owner/name`" }),
  modelId: z.string().optional(),
  author: z.string(),
  sha: z.string().optional().openapi({ description: "The commit of the default branch; absent while there is none." }),
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

export function repoJson(repo: Repo): RepoJson {
  const { type, card, description, headSha, sdk } = repo;
  const { pipeline_tag, library_name } = card ?? {};
  return {
    _id: repo.id,
    id: repo.fullName,
    ...(type === "model" && { modelId: repo.fullName }),
    author: repo.owner.handle,
    ...(headSha && { sha: headSha }),
    private: repo.isPrivate,
    gated: repo.gated === "none" ? false : repo.gated,
    disabled: false,
    discussionsDisabled: !repo.hasDiscussions,
    readOnly: repo.isReadOnly,
    defaultBranch: repo.defaultBranch,
    ...(description && { description }),
    lastModified: repo.updatedAt.toISOString(),
    createdAt: repo.createdAt.toISOString(),
    likes: 0,
    downloads: 0,
    tags: repo.tags,
    ...(card && { cardData: card }),
    ...(typeof pipeline_tag === "string" && { pipeline_tag }),
    ...(typeof library_name === "string" && { library_name }),
    ...(type === "space" && { ...(sdk && { sdk }), subdomain: spaceSubdomain(repo) }),
  };
}
