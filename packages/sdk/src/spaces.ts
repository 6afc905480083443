import { z } from "zod";

/** The runtime of a Space, as existing clients read it (docs/specification/jobs-and-spaces.md#spaces). @group Spaces */
export const runtimeSchema = z.object({
  stage: z.string(),
  hardware: z.object({ current: z.string().nullable(), requested: z.string().nullable() }),
  storage: z.null(),
  gcTimeout: z.number().nullable().meta({ description: "The number of seconds without a request after which the Space sleeps." }),
  sha: z.string().optional().meta({ description: "The commit that is running or ran last." }),
  errorMessage: z.string().optional(),
  domains: z.array(z.object({ domain: z.string(), stage: z.string() })),
});
export type RuntimeJson = z.infer<typeof runtimeSchema>;

/** `GET …/host` @group Spaces */
export const spaceHostSchema = z.object({ host: z.string(), subdomain: z.string() });

/** `POST …/sleeptime` @group Spaces */
export const sleepTimeSchema = z.object({ seconds: z.number() });

/** The variables of a Space by name, or its secrets without their values. @group Spaces */
export const spaceVariablesSchema = z.record(
  z.string(),
  z.object({
    key: z.string(),
    value: z.string().optional(),
    description: z.string().optional(),
    updatedAt: z.string(),
  }),
);

export const newSpaceVariableSchema = z.object({ key: z.string(), value: z.string(), description: z.string().nullish() });

export const deletedSpaceVariableSchema = z.object({ key: z.string() });
