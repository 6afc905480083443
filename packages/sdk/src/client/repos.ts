import { z } from "zod";
import { apiSegments, type RepoType } from "../repos.ts";
import { type Asked, part, type RepoRef, readRepo, repoPathOf } from "./addresses.ts";
import { discussionsOf } from "./discussions.ts";
import type { Paged } from "./paged.ts";
import type { Transport } from "./transport.ts";

const repoSchema = z.looseObject({
  /** The repository's ID, which stays the same when the repository is renamed. */
  _id: z.string(),
  id: z.string(),
  author: z.string(),
  /** The latest commit of the default branch; absent in an empty repository. */
  sha: z.string().optional(),
  private: z.boolean(),
  gated: z.union([z.literal(false), z.enum(["auto", "manual"])]),
  discussionsDisabled: z.boolean(),
  readOnly: z.boolean(),
  defaultBranch: z.string(),
  description: z.string().optional(),
  lastModified: z.string(),
  createdAt: z.string(),
  tags: z.array(z.string()),
  /** Only for a Space. */
  sdk: z.string().optional(),
  subdomain: z.string().optional(),
});
/** A repository. `id` is `owner/name`; times are ISO 8601 in UTC. @group Client @useDeclaredType */
export type RepoRecord = z.infer<typeof repoSchema>;

/** A repository to create. @group Client */
export type NewRepo = {
  name: string;
  /** Default `model`. */
  type?: RepoType;
  /** The handle of the owner. Default: the caller. */
  organization?: string;
  private?: boolean;
  /** For a Space: `static` or `node`. Other values are stored, but such a Space does not run. */
  sdk?: string;
  license?: string;
};
/** Settings of a repository. Absent fields keep their values; `null` removes a text. @group Client */
export type RepoSettings = {
  private?: boolean;
  gated?: false | "auto" | "manual";
  gatePrompt?: string | null;
  description?: string | null;
  sdk?: string | null;
  defaultBranch?: string;
  readOnly?: boolean;
  defaultBranchProtected?: boolean;
  discussionsDisabled?: boolean;
};
/** A filter of the repositories to list. @group Client */
export type RepoFilter = {
  /** Default `model`. */
  type?: RepoType;
  /** The handle of a user or an organization. */
  author?: string;
  search?: string;
  /** Tags. A repository must have all of them. */
  filter?: string | string[];
  /** The time by which the list is sorted, newest first. Default `lastModified`. */
  sort?: "createdAt" | "lastModified";
  /** Items on a page. */
  limit?: number;
};

const placeSchema = z.object({ url: z.string(), name: z.string(), id: z.string() });
/** The place of a repository: its page, `owner/name`, and its ID. @group Client @useDeclaredType */
export type RepoPlace = z.infer<typeof placeSchema>;
const branchSchema = z.looseObject({ name: z.string(), ref: z.string(), targetCommit: z.string() });
const refsSchema = z.object({ branches: z.array(branchSchema), tags: z.array(branchSchema) });

/**
 * The operations of `client.repos`, on repositories and their branches.
 *
 * For their files, use git or a client of the hub's file API.
 * @group Client @useDeclaredType
 */
export type ReposClient = ReturnType<typeof reposOf>;

export function reposOf(transport: Transport) {
  const { request, pages } = transport;
  return {
    /**
     * Creates a repository. Next, clone it with git from `url`.
     * @throws {@link ApiError} `conflict`: the name is taken.
     */
    create: (repo: NewRepo, { signal }: Asked = {}): Promise<RepoPlace> =>
      request("POST", "/api/repos/create", { body: repo, schema: placeSchema, signal }),

    /** Lists repositories that the token may read. By default, the last changed one is first. */
    list: ({ type = "model", ...filter }: RepoFilter = {}, { signal }: Asked = {}): Paged<RepoRecord> =>
      pages(`/api/${apiSegments[type]}`, { query: filter, schema: z.array(repoSchema), signal }),

    /** Reads a repository. @throws {@link ApiError} `RepoNotFound`: it does not exist, or the token may not read it. */
    get: (repo: RepoRef, { signal }: Asked = {}): Promise<RepoRecord> =>
      // With `expand`, the response omits the names of the repository's files, of which there may be many.
      request("GET", repoPathOf(repo), { query: { expand: ["lastModified"] }, schema: repoSchema, signal }),

    /** Deletes a repository for good. */
    async delete(repo: RepoRef, { signal }: Asked = {}): Promise<void> {
      const { type, name } = readRepo(repo);
      const [owner, own] = name.split("/");
      const body = own === undefined ? { type, name } : { type, organization: owner, name: own };
      await request("DELETE", "/api/repos/delete", { body, signal });
    },

    /** Renames a repository, or moves it to another owner. `to` is `owner/name`. The service redirects the old name to the new one. */
    move: (repo: RepoRef, to: string, { signal }: Asked = {}): Promise<RepoPlace> => {
      const { type, name } = readRepo(repo);
      return request("POST", "/api/repos/move", { body: { type, fromRepo: name, toRepo: to }, schema: placeSchema, signal });
    },

    /** Changes settings. */
    updateSettings: (repo: RepoRef, settings: RepoSettings, { signal }: Asked = {}): Promise<RepoRecord> =>
      request("PUT", `${repoPathOf(repo)}/settings`, { body: settings, schema: repoSchema, signal }),

    /** Branches. */
    branches: {
      /** Lists the branches with their latest commits. */
      list: async (repo: RepoRef, { signal }: Asked = {}) =>
        (await request("GET", `${repoPathOf(repo)}/refs`, { schema: refsSchema, signal })).branches,

      /** Creates a branch at `startingPoint`, which is any revision. Default: the default branch. */
      create: (repo: RepoRef, branch: string, { startingPoint, signal }: Asked & { startingPoint?: string } = {}) =>
        request("POST", `${repoPathOf(repo)}/branch/${part(branch)}`, {
          body: { startingPoint },
          schema: z.object({ ref: z.string(), commitOid: z.string() }),
          signal,
        }),

      /** Deletes a branch. */
      async delete(repo: RepoRef, branch: string, { signal }: Asked = {}): Promise<void> {
        await request("DELETE", `${repoPathOf(repo)}/branch/${part(branch)}`, { signal });
      },
    },

    discussions: discussionsOf(transport),
  };
}
