import { createRoute, z } from "@hono/zod-openapi";
import { flavors } from "#core/jobs/flavors.ts";
import { actorOf } from "../../actor.ts";
import { openApiRoutes, withOrWithoutToken } from "../open-api.ts";

const hardware = z.object({
  name: z.string(),
  prettyName: z.string(),
  cpu: z.string(),
  ram: z.string(),
  ephemeralStorage: z.string(),
  accelerator: z.null(),
  unitCostMicroUSD: z.number(),
  unitCostUSD: z.number(),
  unitLabel: z.string(),
});

const route = createRoute({
  method: "get",
  path: "/api/jobs/hardware",
  summary: "List the flavors that a job may ask for",
  security: withOrWithoutToken,
  responses: { 200: { description: "Flavors", content: { "application/json": { schema: z.array(hardware) } } } },
});

const size = (bytes: number): string => `${Math.round((bytes / 1024 ** 3) * 10) / 10} GB`;

export const jobHardwareRoute = openApiRoutes().openapi(route, async (c) => {
  // Everybody may read it; an invalid token is still rejected.
  await actorOf(c);
  const offered = flavors().map(({ name, cpus, memoryBytes }) => ({
    name,
    prettyName: name.replace(/(^|-)([a-z])/g, (_, dash, letter) => (dash && " ") + letter.toUpperCase()).replace(/^Cpu/, "CPU"),
    cpu: `${cpus} vCPU`,
    ram: size(memoryBytes),
    // A run's writable storage is derived from its memory (core/jobs/runs/execute-run.ts).
    ephemeralStorage: size(memoryBytes / 2),
    accelerator: null,
    // Nothing is charged here; existing clients read the fields, and show "free".
    ...{ unitCostMicroUSD: 0, unitCostUSD: 0, unitLabel: "minute" },
  }));
  return c.json(offered, 200);
});
