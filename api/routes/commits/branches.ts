import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema } from "@keyhook/sdk";
import { createBranch } from "#core/hub/git/write/create-branch.ts";
import { deleteBranch } from "#core/hub/git/write/delete-branch.ts";
import { superSquash } from "#core/hub/git/write/super-squash.ts";
import { actorAnew } from "../../actor.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { repoAddresses, repoParams } from "../repos/repo-address.ts";

const params = repoParams.extend({ branch: z.string().openapi({ description: "Slashes as %2F." }) });

const newBranch = z.object({
  startingPoint: z.string().nullish().openapi({ description: "Any revision; the default branch when left out." }),
  emptyBranch: z.boolean().nullish().openapi({ description: "Begin with a commit that has no files." }),
  overwrite: z.boolean().nullish(),
});
const branchAnswer = z.object({ ref: z.string(), commitOid: z.string() });
const squash = z.object({ message: z.string().nullish() });

export const branchRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  const create = createRoute({
    method: "post",
    path: `${base}/{owner}/{name}/branch/{branch}`,
    summary: `Create a branch (${type})`,
    security: withToken,
    request: { params, body: { content: { "application/json": { schema: newBranch } } } },
    responses: {
      200: { description: "The branch", content: { "application/json": { schema: branchAnswer } } },
      409: { description: "It is there already", content: { "application/json": { schema: errorBodySchema } } },
    },
  });
  branchRoutes.openapi(create, async (c) => {
    const actorNow = actorAnew(c);
    const actor = await actorNow();
    const { owner, name, branch } = c.req.valid("param");
    // A request without a body has none to check.
    const { startingPoint, emptyBranch, overwrite } = c.req.valid("json") ?? {};
    const { sha } = await createBranch(
      actor,
      { type, owner, name },
      {
        branch,
        startingPoint: startingPoint ?? undefined,
        isEmpty: emptyBranch ?? false,
        isOverwriting: overwrite ?? false,
      },
      actorNow,
    );
    return c.json({ ref: `refs/heads/${branch}`, commitOid: sha }, 200);
  });

  const remove = createRoute({
    method: "delete",
    path: `${base}/{owner}/{name}/branch/{branch}`,
    summary: `Delete a branch (${type})`,
    security: withToken,
    request: { params },
    responses: { 200: { description: "It is gone", content: { "application/json": { schema: z.object({}) } } } },
  });
  branchRoutes.openapi(remove, async (c) => {
    const actorNow = actorAnew(c);
    const actor = await actorNow();
    const { owner, name, branch } = c.req.valid("param");
    await deleteBranch(actor, { type, owner, name }, branch, actorNow);
    return c.json({}, 200);
  });

  const squashing = createRoute({
    method: "post",
    path: `${base}/{owner}/{name}/super-squash/{branch}`,
    summary: `Replace a branch's history by one commit (${type})`,
    security: withToken,
    request: { params, body: { content: { "application/json": { schema: squash } } } },
    responses: { 200: { description: "The branch", content: { "application/json": { schema: branchAnswer } } } },
  });
  branchRoutes.openapi(squashing, async (c) => {
    const actorNow = actorAnew(c);
    const actor = await actorNow();
    const { owner, name, branch } = c.req.valid("param");
    const { message } = c.req.valid("json") ?? {};
    const { sha } = await superSquash(actor, { type, owner, name }, { branch, message: message ?? undefined }, actorNow);
    return c.json({ ref: `refs/heads/${branch}`, commitOid: sha }, 200);
  });
}
