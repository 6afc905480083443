import { Prisma } from "../generated/prisma/client.ts";

/**
 * The hours of `webhook_hour` that the limit of triggers looks at (S127), as an SQL condition on `h`. They are counted by whole hours: with
 * the current one and the 24 before it, no 24 hours whatsoever hold more than the limit.
 */
export const inTriggerWindow: Prisma.Sql = Prisma.sql`h.hour >= date_trunc('hour', now(), 'UTC') - interval '24 hours'`;
