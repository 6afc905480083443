import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema } from "@keyhook/sdk";
import type { Context } from "hono";
import { ServiceError } from "#core/errors.ts";
import { bodyHolder } from "#core/fair-queue/body-budget.ts";
import { type Committed, createCommit } from "#core/hub/git/write/create-commit.ts";
import type { Operation } from "#core/hub/git/write/operation.ts";
import { repoWebUrl } from "#core/hub/repos/repo.ts";
import { countWatching } from "#core/webhooks/count-watching.ts";
import { requireToken } from "../../actor.ts";
import { askedAnew } from "../../bearer.ts";
import { refuseHeavyJson } from "../../refuse-bad-input.ts";
import { openApiRoutes, storageFull, withToken } from "../open-api.ts";
import { repoAddresses, repoParams } from "../repos/repo-address.ts";
import { type CommitHeader, parseHeader, parseOperations, parseWhole } from "./commit-lines.ts";
import { isAsked } from "./preupload.ts";
import { readNdjson } from "./read-ndjson.ts";

/** A commit in one JSON object is read whole, and so has to be small. */
const WHOLE_MAX_BYTES = 16 * 1024 * 1024;

const answer = z.object({
  success: z.literal(true),
  commitOid: z.string(),
  commitUrl: z.string(),
  hookOutput: z.string(),
  pullRequestUrl: z.string().optional(),
});

export const createCommitRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  const route = createRoute({
    method: "post",
    path: `${base}/{owner}/{name}/commit/{rev}`,
    summary: `Commit to a branch, or propose a commit (${type})`,
    description:
      "One JSON object a line: first `header`, then any number of `file`, `lfsFile`, `deletedFile`, `deletedFolder`, `deletedEntry` and " +
      "`copyFile`, done in their order. A commit that would change nothing is answered with the one that is there.",
    security: withToken,
    request: {
      params: repoParams.extend({ rev: z.string().openapi({ description: "A branch, or refs/pr/<number>; slashes as %2F." }) }),
      query: z.object({ create_pr: z.string().optional() }),
      body: { required: true, content: { "application/x-ndjson": { schema: z.string() } } },
    },
    responses: {
      200: { description: "The commit", content: { "application/json": { schema: answer } } },
      412: {
        description: "The branch has moved on from `parentCommit`",
        content: { "application/json": { schema: errorBodySchema } },
      },
      ...storageFull,
    },
  });
  createCommitRoutes.openapi(route, async (c) => {
    const actorNow = askedAnew(c, async () => (await requireToken(c)).actor);
    const actor = await actorNow();
    const { owner, name, rev } = c.req.valid("param");
    const { create_pr } = c.req.valid("query");
    const { header, operations, close } = await readCommit(c);
    try {
      const committed = await createCommit(
        actor,
        { type, owner, name },
        {
          revision: rev,
          summary: header.summary,
          description: header.description ?? undefined,
          parentCommit: header.parentCommit ?? undefined,
          isPullRequest: isAsked(create_pr),
          operations,
        },
        actorNow,
      );
      return c.json(await describeCommit(committed), 200);
    } finally {
      await close();
    }
  });
}

type ReadCommit = {
  header: CommitHeader;
  operations: AsyncIterable<Operation> | Iterable<Operation>;
  /** Always to be called: a commit may be rejected before its operations are read. */
  close: () => Promise<unknown>;
};

async function readCommit(c: Context): Promise<ReadCommit> {
  if (/^application\/json\b/i.test(c.req.header("Content-Type") ?? "")) {
    if (Number(c.req.header("Content-Length") ?? Number.POSITIVE_INFINITY) > WHOLE_MAX_BYTES) {
      throw new ServiceError("payload_too_large", "Send a commit of this size as application/x-ndjson, one file a line.");
    }
    bodyHolder()(Number(c.req.header("Content-Length")));
    return { ...parseWhole(await readWhole(c)), close: async () => undefined };
  }
  if (!c.req.raw.body) throw new ServiceError("invalid_request", "Send the commit as the body of the request.");
  const lines = readNdjson(c.req.raw.body);
  const close = () => lines.return(undefined);
  try {
    const { value: first } = await lines.next();
    return { header: parseHeader(first ?? undefined), operations: parseOperations(lines), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws ServiceError `invalid_request` for invalid JSON, such as lines with this media type */
async function readWhole(c: Context): Promise<unknown> {
  const text = await c.req.text();
  refuseHeavyJson(Buffer.from(text));
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError("invalid_request", "The body is not JSON. Send one object a line as application/x-ndjson.");
  }
}

async function describeCommit({ repo, sha, isNew, pullRequest }: Committed): Promise<z.infer<typeof answer>> {
  const web = repoWebUrl(repo);
  const watching = isNew ? await countWatching(repo, "repo") : 0;
  return {
    success: true,
    commitOid: sha,
    commitUrl: `${web}/commit/${sha}`,
    hookOutput: watching > 0 ? `${watching} ${watching === 1 ? "webhook" : "webhooks"} triggered: ${web}/webhooks` : "",
    ...(pullRequest !== undefined && { pullRequestUrl: `${web}/discussions/${pullRequest}` }),
  };
}
