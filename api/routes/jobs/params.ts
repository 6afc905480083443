import { z } from "@hono/zod-openapi";

export const namespaceParams = z.object({
  namespace: z.string().openapi({ description: "A user or an organization: on whose account it runs." }),
});

export const jobParams = namespaceParams.extend({ jobId: z.string() });

/** `{}` */
export const emptyAnswer = z.object({});
