import { createRoute, z } from "@hono/zod-openapi";
import { changeStatus } from "#core/hub/discussions/change-status.ts";
import { changeTitle } from "#core/hub/discussions/change-title.ts";
import { mergePullRequest } from "#core/hub/discussions/merge-pull-request.ts";
import { setLocked } from "#core/hub/discussions/set-locked.ts";
import { setPinned } from "#core/hub/discussions/set-pinned.ts";
import { actorAnew, requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { repoAddresses } from "../repos/repo-address.ts";
import { discussionName, discussionParams } from "./discussion-address.ts";
import { eventJson, eventSchema } from "./discussion-json.ts";

const json = <Schema extends z.ZodType>(schema: Schema) => ({ content: { "application/json": { schema } } }) as const;
const answer = <Schema extends z.ZodType>(description: string, schema: Schema) =>
  ({ 200: { description, ...json(schema) } }) as const;

const statusBody = z.object({ status: z.enum(["open", "closed"]), comment: z.string().nullish() });
const mergeBody = z.object({
  comment: z.string().nullish(),
  headSha: z.string().optional().openapi({ description: "The commit that was looked at: nothing else is merged." }),
  fastForward: z.boolean().optional().openapi({ description: "Moves the branch forward instead of making a merge commit." }),
});

export const changeRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  const path = `${base}/{owner}/{name}/discussions/{num}` as const;
  const common = { method: "post", security: withToken } as const;

  const title = createRoute({
    ...common,
    path: `${path}/title`,
    summary: `Give a discussion of a ${type} another title`,
    request: { params: discussionParams, body: { required: true, ...json(z.object({ title: z.string() })) } },
    responses: answer("What is shown of it", z.object({ newTitle: eventSchema })),
  });
  changeRoutes.openapi(title, async (c) => {
    const { actor } = await requireToken(c);
    const event = await changeTitle(actor, discussionName(type, c.req.valid("param")), c.req.valid("json"));
    return c.json({ newTitle: eventJson(event) }, 200);
  });

  const status = createRoute({
    ...common,
    path: `${path}/status`,
    summary: `Close a discussion of a ${type}, or open it again`,
    request: { params: discussionParams, body: { required: true, ...json(statusBody) } },
    responses: answer("What is shown of it", z.object({ newStatus: eventSchema })),
  });
  changeRoutes.openapi(status, async (c) => {
    const { actor } = await requireToken(c);
    const event = await changeStatus(actor, discussionName(type, c.req.valid("param")), c.req.valid("json"));
    return c.json({ newStatus: eventJson(event) }, 200);
  });

  const merge = createRoute({
    ...common,
    path: `${path}/merge`,
    summary: `Merge a pull request of a ${type}`,
    request: { params: discussionParams, body: json(mergeBody) },
    responses: answer("The commit that its base is at now", z.object({ success: z.literal(true), mergeCommitId: z.string() })),
  });
  changeRoutes.openapi(merge, async (c) => {
    const actorNow = actorAnew(c);
    const actor = await actorNow();
    const { comment, headSha, fastForward }: z.infer<typeof mergeBody> = c.req.valid("json");
    const at = discussionName(type, c.req.valid("param"));
    const mergeCommitId = await mergePullRequest(actor, at, { comment, headSha, isFastForward: fastForward }, actorNow);
    return c.json({ success: true as const, mergeCommitId }, 200);
  });

  const pin = createRoute({
    ...common,
    path: `${path}/pin`,
    summary: `Pin a discussion of a ${type}, or take it back among the others`,
    request: { params: discussionParams, body: json(z.object({ pinned: z.boolean().default(true) })) },
    responses: answer("As it is now", z.object({ pinned: z.boolean() })),
  });
  changeRoutes.openapi(pin, async (c) => {
    const { actor } = await requireToken(c);
    const { pinned = true } = c.req.valid("json");
    await setPinned(actor, discussionName(type, c.req.valid("param")), pinned);
    return c.json({ pinned }, 200);
  });

  const lock = createRoute({
    ...common,
    path: `${path}/lock`,
    summary: `Leave a discussion of a ${type} to those who look after the repository, or open it to everybody again`,
    request: { params: discussionParams, body: json(z.object({ locked: z.boolean().default(true) })) },
    responses: answer("As it is now", z.object({ locked: z.boolean() })),
  });
  changeRoutes.openapi(lock, async (c) => {
    const { actor } = await requireToken(c);
    const { locked = true } = c.req.valid("json");
    await setLocked(actor, discussionName(type, c.req.valid("param")), locked, requestOriginOf(c));
    return c.json({ locked }, 200);
  });
}
