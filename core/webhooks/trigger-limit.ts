import { Prisma } from "../generated/prisma/client.ts";

/**
 * The hours of `webhook_hour` that count for the limit of triggers (S127), as an SQL condition on `h`. Whole hours are counted:
 * with the current one and the 24 before it, no period of 24 hours can exceed the limit.
 */
export const inTriggerWindow: Prisma.Sql = Prisma.sql`h.hour >= date_trunc('hour', now(), 'UTC') - interval '24 hours'`;
