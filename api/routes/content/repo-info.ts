import { z } from "@hono/zod-openapi";
import { type RepoInfoJson, repoInfoSchema } from "@keyhook/sdk";
import type { Context } from "hono";
import { readSnapshot, type Snapshot } from "#core/hub/git/read/read-snapshot.ts";
import { splitRevision } from "#core/hub/git/read/revision.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { appUrl } from "#core/spaces/app-address.ts";
import { readSpaceRuntime, type SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { actorOf } from "../../actor.ts";
import { repoJson } from "../repo-json.ts";
import { runtimeJson } from "../spaces.ts";
import { addOnBranchHeader, defineContentRoute, isTrue } from "./content-route.ts";

const query = z.object({
  blobs: z.boolean().optional().openapi({ description: "Whether to include the size of each file." }),
  expand: z
    .array(z.string())
    .max(100)
    .optional()
    .openapi({ description: "The fields that the client reads. If they lack `siblings`, the response has no file names." }),
});

const route = { action: "repo.read", query, answer: repoInfoSchema } as const;

export const repoInfoRoutes = [
  defineContentRoute("GET ", {
    ...route,
    operationId: "getRepo",
    summary: "Get a repository",
    handle: ({ c, repo }) => answer(c, repo, undefined),
  }),
  defineContentRoute("GET /revision/{rev}*", {
    ...route,
    operationId: "getRepoAtRevision",
    summary: "Get a repository at a revision",
    handle: ({ c, repo, segments: [, ...segments] }) => answer(c, repo, splitRevision(segments).revision),
  }),
];

async function answer(c: Context, name: RepoName, revision: string | undefined): Promise<Response> {
  const repo = await findRepo(await actorOf(c), name);
  const expanded = [...(c.req.queries("expand") ?? []), ...(c.req.queries("expand[]") ?? [])];
  const withFiles = expanded.length === 0 || expanded.includes("siblings");
  const files = withFiles ? (isTrue(c.req.query("blobs")) ? "sizes" : "names") : "none";
  // A platform's repository has no files here.
  const snapshot: Snapshot = repo.platformId
    ? { ref: null, sha: repo.headSha, committedAt: null, files: withFiles ? [] : null }
    : await readSnapshot(repo, revision ?? "HEAD", { files });
  await addOnBranchHeader(c, repo, snapshot);
  const runtime = repo.type === "space" ? await readSpaceRuntime(repo.id) : undefined;
  return c.json(repoInfo(repo, snapshot, { isAtHead: revision === undefined, runtime }));
}

function repoInfo(
  repo: Repo,
  { sha, committedAt, files }: Snapshot,
  { isAtHead, runtime }: { isAtHead: boolean; runtime: SpaceRuntime | undefined },
): RepoInfoJson {
  const lastModified = isAtHead ? repo.updatedAt : (committedAt ?? repo.updatedAt);
  return {
    ...repoJson({ ...repo, headSha: sha, updatedAt: lastModified }),
    usedStorage: repo.sizeBytes + repo.lfsBytes,
    ...(repo.type === "space" && {
      ...(repo.platformId === null && { host: appUrl(repo).replace(/\/$/, "") }),
      runtime: runtimeJson(repo, runtime),
    }),
    ...(files && { siblings: files.map(sibling) }),
  };
}

const sibling = ({ path, size, oid, lfs }: NonNullable<Snapshot["files"]>[number]) => ({
  rfilename: path,
  ...(oid && { size, blobId: oid }),
  ...(lfs && { lfs: { sha256: lfs.oid, size: lfs.size, pointerSize: lfs.pointerSize } }),
});
