import { z } from "zod";
import { apiSegments, type RepoType } from "../repos.ts";
import { discussionsOf } from "./discussions.ts";
import type { Paged } from "./paged.ts";
import { type RepoRef, readRepo, repoPathOf } from "./repo-address.ts";
import type { Transport } from "./transport.ts";
import { type Asked, part } from "./whose.ts";

const repoSchema = z.looseObject({
  /** Its id. */
  _id: z.string(),
  /** `owner/name` */
  id: z.string(),
  author: z.string(),
  /** The commit of the default branch; absent while there is none. */
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
  /** Of a Space. */
  sdk: z.string().optional(),
  subdomain: z.string().optional(),
});
export type RepoRecord = z.infer<typeof repoSchema>;

export type NewRepo = {
  name: string;
  /** A model when left out. */
  type?: RepoType;
  /** Its owner, when it is not the caller. */
  organization?: string;
  private?: boolean;
  /** Of a Space: `static`, `docker` … */
  sdk?: string;
  license?: string;
};
/** What is left out stays as it is. */
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
export type RepoFilter = {
  /** A model when left out. */
  type?: RepoType;
  /** The handle of a user or an organization. */
  author?: string;
  search?: string;
  /** Tags: those that have all of them. */
  filter?: string | string[];
  sort?: "createdAt" | "lastModified";
  /** Of a page. */
  limit?: number;
};

/** Where it is; `name` is `owner/name`. */
const placeSchema = z.object({ url: z.string(), name: z.string(), id: z.string() });
export type RepoPlace = z.infer<typeof placeSchema>;
const branchSchema = z.looseObject({ name: z.string(), ref: z.string(), targetCommit: z.string() });
const refsSchema = z.object({ branches: z.array(branchSchema), tags: z.array(branchSchema) });

/** Repositories as such: files travel by git, or by the clients for it. */
export function reposOf(transport: Transport) {
  const { request, pages } = transport;
  return {
    /** @throws ApiError `conflict` where there is one of that name */
    create: (repo: NewRepo, { signal }: Asked = {}): Promise<RepoPlace> =>
      request("POST", "/api/repos/create", { body: repo, schema: placeSchema, signal }),

    /** Those that the token may read, the latest first. */
    list: ({ type = "model", ...filter }: RepoFilter = {}, { signal }: Asked = {}): Paged<RepoRecord> =>
      pages(`/api/${apiSegments[type]}`, { query: filter, schema: z.array(repoSchema), signal }),

    get: (repo: RepoRef, { signal }: Asked = {}): Promise<RepoRecord> =>
      // Without the names of its files, of which there may be many.
      request("GET", repoPathOf(repo), { query: { expand: ["lastModified"] }, schema: repoSchema, signal }),

    async delete(repo: RepoRef, { signal }: Asked = {}): Promise<void> {
      const { type, name } = readRepo(repo);
      const [owner, own] = name.split("/");
      const body = own === undefined ? { type, name } : { type, organization: owner, name: own };
      await request("DELETE", "/api/repos/delete", { body, signal });
    },

    /** @param to `owner/name`; the name that it had leads there */
    move: (repo: RepoRef, to: string, { signal }: Asked = {}): Promise<RepoPlace> => {
      const { type, name } = readRepo(repo);
      return request("POST", "/api/repos/move", { body: { type, fromRepo: name, toRepo: to }, schema: placeSchema, signal });
    },

    updateSettings: (repo: RepoRef, settings: RepoSettings, { signal }: Asked = {}): Promise<RepoRecord> =>
      request("PUT", `${repoPathOf(repo)}/settings`, { body: settings, schema: repoSchema, signal }),

    branches: {
      list: async (repo: RepoRef, { signal }: Asked = {}) =>
        (await request("GET", `${repoPathOf(repo)}/refs`, { schema: refsSchema, signal })).branches,

      /** From `startingPoint`, any revision, or the default branch. */
      create: (repo: RepoRef, branch: string, { startingPoint, signal }: Asked & { startingPoint?: string } = {}) =>
        request("POST", `${repoPathOf(repo)}/branch/${part(branch)}`, {
          body: { startingPoint },
          schema: z.object({ ref: z.string(), commitOid: z.string() }),
          signal,
        }),

      async delete(repo: RepoRef, branch: string, { signal }: Asked = {}): Promise<void> {
        await request("DELETE", `${repoPathOf(repo)}/branch/${part(branch)}`, { signal });
      },
    },

    discussions: discussionsOf(transport),
  };
}
