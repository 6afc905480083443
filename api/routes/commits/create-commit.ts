import { z } from "@hono/zod-openapi";
import { committedSchema } from "@keyhook/sdk";
import type { Context } from "hono";
import { invalidRequest, ServiceError } from "#core/errors.ts";
import { bodyHolder } from "#core/fair-queue/body-budget.ts";
import type { Operation } from "#core/hub/git/write/collect-changes.ts";
import { type Committed, createCommit } from "#core/hub/git/write/create-commit.ts";
import { repoWebUrl } from "#core/hub/repos/repo.ts";
import { webhooksTriggered } from "#core/webhooks/watchers.ts";
import { defineRoute, failure, json, storageFull } from "../../define-route.ts";
import { refuseHeavyJson } from "../../refuse-bad-input.ts";
import { type CommitHeader, parseHeader, parseOperations, parseWhole } from "./commit-lines.ts";
import { isAsked } from "./prepare-commit.ts";
import { readNdjson } from "./read-ndjson.ts";

const WHOLE_MAX_BYTES = 16 * 1024 * 1024;

export const createCommitRoute = defineRoute("POST /api/{TYPES}/{owner}/{name}/commit/{rev}", {
  operationId: "createRepoCommit",
  action: "repo.write",
  actor: "token",
  summary: "Commit to a branch, or propose a commit ({type})",
  description:
    "One JSON object per line: first `header`, then any number of `file`, `lfsFile`, `deletedFile`, `deletedFolder`, `deletedEntry` and " +
    "`copyFile`, applied in the order of the lines. If the commit would change nothing, the response has the branch's latest commit.",
  params: { rev: z.string().openapi({ description: "A branch, or refs/pr/<number>, with slashes as %2F." }) },
  query: z.object({ create_pr: z.string().optional() }),
  rawBody: { required: true, content: { "application/x-ndjson": { schema: z.string() } } },
  // The body contains files as base64. Large files are sent by Git LFS instead.
  maxBodyBytes: 512 * 1024 * 1024,
  isBodyStreamed: true,
  responses: {
    200: json("The commit", committedSchema),
    412: failure("The branch's latest commit is no longer `parentCommit`"),
    ...storageFull,
  },
  async handle({ c, actor, actorNow, repo, params, query }) {
    const { header, operations, close } = await readCommit(c);
    const commit = {
      revision: params.rev,
      summary: header.summary,
      description: header.description ?? undefined,
      parentCommit: header.parentCommit ?? undefined,
      isPullRequest: isAsked(query.create_pr),
      operations,
    };
    try {
      return await describeCommit(await createCommit(actor, repo, commit, actorNow));
    } finally {
      await close();
    }
  },
});

type ReadCommit = {
  header: CommitHeader;
  operations: AsyncIterable<Operation> | Iterable<Operation>;
  /** The handler must always call this function, because a commit may be rejected before its operations are read. */
  close: () => Promise<unknown>;
};

async function readCommit(c: Context): Promise<ReadCommit> {
  if (/^application\/json\b/i.test(c.req.header("Content-Type") ?? "")) {
    if (Number(c.req.header("Content-Length") ?? Number.POSITIVE_INFINITY) > WHOLE_MAX_BYTES) {
      throw new ServiceError("payload_too_large", "Send a commit of this size as application/x-ndjson, one file per line.");
    }
    bodyHolder()(Number(c.req.header("Content-Length")));
    return { ...parseWhole(await readWhole(c)), close: async () => undefined };
  }
  if (!c.req.raw.body) throw invalidRequest("Send the commit as the body of the request.");
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

async function readWhole(c: Context): Promise<unknown> {
  const text = await c.req.text();
  refuseHeavyJson(Buffer.from(text));
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest("The body is not JSON. Send one object per line as application/x-ndjson.");
  }
}

async function describeCommit({ repo, sha, isNew, pullRequest }: Committed): Promise<z.infer<typeof committedSchema>> {
  const web = repoWebUrl(repo);
  const triggered = isNew ? await webhooksTriggered(repo) : undefined;
  return {
    success: true,
    commitOid: sha,
    commitUrl: `${web}/commit/${sha}`,
    hookOutput: triggered ? `${triggered}: ${web}/webhooks` : "",
    ...(pullRequest !== undefined && { pullRequestUrl: `${web}/discussions/${pullRequest}` }),
  };
}
