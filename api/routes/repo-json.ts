import type { RepoJson } from "@keyhook/sdk";
import { type Repo, spaceSubdomain } from "#core/hub/repos/repo.ts";

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
    likes: repo.likes,
    downloads: 0,
    tags: repo.tags,
    ...(card && { cardData: card }),
    ...(typeof pipeline_tag === "string" && { pipeline_tag }),
    ...(typeof library_name === "string" && { library_name }),
    ...(type === "space" && { ...(sdk && { sdk }), subdomain: spaceSubdomain(repo) }),
  };
}
