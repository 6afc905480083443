import { z } from "@hono/zod-openapi";
import type { ServiceError } from "#core/errors.ts";

/** For one among many: the same as the body of a response for it alone. */
export const refusalSchema = z.object({
  error: z.string().optional(),
  code: z.string().optional(),
  field: z.string().optional(),
});

export function refusalJson({ message, code, field }: ServiceError): z.infer<typeof refusalSchema> {
  return { error: message, code, ...(field && { field }) };
}
