import { z } from "@hono/zod-openapi";
import {
  deletedSpaceVariableSchema,
  newSpaceVariableSchema,
  type RuntimeJson,
  runtimeSchema,
  sleepTimeSchema,
  spaceHostSchema,
  spaceVariablesSchema,
} from "@keyhook/sdk";
import { withKeepAlive } from "#core/http/with-keep-alive.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { type Repo, spaceSubdomain } from "#core/hub/repos/repo.ts";
import { takeLogSlot } from "#core/jobs/logs/read-log.ts";
import { appUrl } from "#core/spaces/app-address.ts";
import { pauseSpace, restartSpace, setSleepTime } from "#core/spaces/controls/change-runtime.ts";
import { followSpaceLog } from "#core/spaces/logs/read-space-log.ts";
import { readSpaceConfig } from "#core/spaces/space-config.ts";
import { readSpaceRuntime, type SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { SLEEP_AFTER_SECONDS, SPACE_FLAVOR, type SpaceStage } from "#core/spaces/stages.ts";
import { deleteSpaceVariable, listSpaceVariables, setSpaceVariable } from "#core/spaces/variables.ts";
import { defineRoute, events, json } from "../define-route.ts";
import { eventOf, sendEvents } from "../events.ts";

const kinds = [
  { segment: "variables", one: "Variable", isSecret: false, word: "variables" },
  { segment: "secrets", one: "Secret", isSecret: true, word: "secrets; their values are not shown" },
] as const;

export const spaceRoutes = [
  defineRoute("GET /api/spaces/{owner}/{name}/runtime", {
    operationId: "getSpaceRuntime",
    action: "repo.read",
    actor: "anyone",
    summary: "Get the stage of a Space",
    responses: { 200: json("The runtime, with its stage", runtimeSchema) },
    async handle({ actor, repo: name }) {
      const repo = await findRepo(actor, name);
      return runtimeJson(repo, await readSpaceRuntime(repo.id));
    },
  }),

  defineRoute("GET /api/spaces/{owner}/{name}/host", {
    operationId: "getSpaceHost",
    action: "repo.read",
    actor: "anyone",
    summary: "Get the URL of a Space's app",
    responses: { 200: json("The URL", spaceHostSchema) },
    async handle({ actor, repo: name }) {
      const repo = await findRepo(actor, name);
      return { host: appUrl(repo).replace(/\/$/, ""), subdomain: spaceSubdomain(repo) };
    },
  }),

  defineRoute("POST /api/spaces/{owner}/{name}/restart", {
    operationId: "restartSpace",
    action: "repo.manage",
    actor: "user",
    summary: "Restart a Space from its latest commit",
    query: z.object({
      factory: z
        .string()
        .optional()
        .openapi({ description: "Accepted but ignored: every run starts without data from earlier runs." }),
    }),
    responses: { 200: json("The Space is starting", runtimeSchema) },
    async handle({ actor, repo: name, origin }) {
      const { repo, runtime } = await restartSpace(actor, name, origin);
      return runtimeJson(repo, runtime);
    },
  }),

  defineRoute("POST /api/spaces/{owner}/{name}/pause", {
    operationId: "pauseSpace",
    action: "repo.manage",
    actor: "user",
    summary: "Stop a Space until it is restarted",
    responses: { 200: json("The Space is paused", runtimeSchema) },
    async handle({ actor, repo: name, origin }) {
      const { repo, runtime } = await pauseSpace(actor, name, origin);
      return runtimeJson(repo, runtime);
    },
  }),

  defineRoute("POST /api/spaces/{owner}/{name}/sleeptime", {
    operationId: "setSpaceSleepTime",
    action: "repo.manage",
    actor: "user",
    summary: "Set the time without requests after which a Space sleeps",
    body: sleepTimeSchema,
    responses: { 200: json("The time is set", runtimeSchema) },
    async handle({ actor, repo: name, body: { seconds }, origin }) {
      const { repo, runtime } = await setSleepTime(actor, name, seconds, origin);
      return runtimeJson(repo, runtime);
    },
  }),

  defineRoute("GET /api/spaces/{owner}/{name}/logs/run", {
    operationId: "followSpaceLogs",
    action: "repo.write",
    actor: "token",
    summary: "Follow the log of a Space",
    description:
      "Requires permission to write to the Space. The stream begins with the stored part of the log, and does not end.",
    responses: { 200: events('`data: {"data", "timestamp"}` for each piece of the log') },
    async handle({ c, actor, actorNow, repo }) {
      const { id } = await findRepo(actor, repo, "repo.write");
      takeLogSlot();
      // The stream may last a day, so access is checked repeatedly (S114).
      const check = async () => findRepo(await actorNow(), repo, "repo.write");
      return sendEvents(
        c,
        withKeepAlive((signal) => logPieces(id, signal), { signal: c.req.raw.signal, check }),
      );
    },
  }),

  ...kinds.flatMap(({ segment, one, isSecret, word }) => [
    defineRoute(`GET /api/spaces/{owner}/{name}/${segment}`, {
      operationId: `listSpace${one}s`,
      action: "repo.manage",
      actor: "user",
      summary: `List a Space's ${word}`,
      responses: { 200: json("All entries, by name", spaceVariablesSchema) },
      async handle({ actor, repo }) {
        return variablesJson(await findRepo(actor, repo, "repo.manage"), isSecret);
      },
    }),

    defineRoute(`POST /api/spaces/{owner}/{name}/${segment}`, {
      operationId: `setSpace${one}`,
      action: "repo.manage",
      actor: "user",
      summary: `Set one of a Space's ${segment}; a running or failed Space restarts`,
      body: newSpaceVariableSchema,
      responses: { 200: json("All entries, by name", spaceVariablesSchema) },
      async handle({ actor, repo, body: { key: name, value, description }, origin }) {
        await setSpaceVariable(actor, repo, { name, value, isSecret, description }, origin);
        return variablesJson(await findRepo(actor, repo, "repo.manage"), isSecret);
      },
    }),

    defineRoute(`DELETE /api/spaces/{owner}/{name}/${segment}`, {
      operationId: `deleteSpace${one}`,
      action: "repo.manage",
      actor: "user",
      summary: `Delete one of a Space's ${segment}; a running or failed Space restarts`,
      body: deletedSpaceVariableSchema,
      responses: { 200: json("All entries, by name", spaceVariablesSchema) },
      async handle({ actor, repo, body: { key: name }, origin }) {
        await deleteSpaceVariable(actor, repo, { name, isSecret }, origin);
        return variablesJson(await findRepo(actor, repo, "repo.manage"), isSecret);
      },
    }),
  ]),
];

async function* logPieces(repoId: string, signal: AbortSignal) {
  for await (const news of followSpaceLog(repoId, signal)) {
    yield news.map(({ at, text }) => eventOf({ data: text, timestamp: at.toISOString() })).join("");
  }
}

async function variablesJson({ id }: Repo, isSecret: boolean) {
  const all = (await listSpaceVariables(id)).filter((each) => each.isSecret === isSecret);
  return Object.fromEntries(
    all.map(({ name, value, description, updatedAt }) => [
      name,
      {
        key: name,
        ...(value !== undefined && { value }),
        ...(description && { description }),
        updatedAt: updatedAt.toISOString(),
      },
    ]),
  );
}

export function runtimeJson(repo: Repo, runtime: SpaceRuntime | undefined): RuntimeJson {
  const stage: SpaceStage = runtime?.stage ?? (repo.platformId ? "STOPPED" : "NO_APP_FILE");
  const isService = readSpaceConfig(repo).kind === "service" && repo.platformId === null;
  return {
    stage,
    hardware: { current: isService && stage === "RUNNING" ? SPACE_FLAVOR : null, requested: isService ? SPACE_FLAVOR : null },
    storage: null,
    gcTimeout: isService ? (runtime?.sleepSeconds ?? SLEEP_AFTER_SECONDS) : null,
    ...(runtime?.commit && { sha: runtime.commit }),
    ...(runtime?.message && { errorMessage: runtime.message }),
    domains: repo.platformId ? [] : [{ domain: appUrl(repo).replace(/^https?:\/\/|\/$/g, ""), stage: "READY" }],
  };
}
