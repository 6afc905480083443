/** What a repository can be (docs/specification/repositories-and-git.md). */
export const repoTypes = ["model", "dataset", "space"] as const;
export type RepoType = (typeof repoTypes)[number];

export function isRepoType(text: unknown): text is RepoType {
  return (repoTypes as readonly unknown[]).includes(text);
}

/** The word for a type in addresses of the API: `/api/models/…`. */
export const apiSegments = { model: "models", dataset: "datasets", space: "spaces" } as const satisfies Record<RepoType, string>;

export function repoTypeOfSegment(segment: string): RepoType | undefined {
  return repoTypes.find((type) => apiSegments[type] === segment);
}

/** What is between the origin and `owner/name` in addresses of pages and of git: nothing for a model. */
export function repoPath(type: RepoType, fullName: string): string {
  return type === "model" ? `/${fullName}` : `/${apiSegments[type]}/${fullName}`;
}

export function repoApiPath(type: RepoType, fullName: string): string {
  return `/api/${apiSegments[type]}/${fullName}`;
}

/** Who may read the content of a public repository: everybody, whoever asks, or whoever is let in. */
export const gates = ["none", "auto", "manual"] as const;
export type Gate = (typeof gates)[number];
