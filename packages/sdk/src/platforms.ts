import { z } from "zod";

/** The fields of the error that a request with only this item would get. */
const refusalSchema = z.object({
  error: z.string().optional(),
  code: z.string().optional(),
  field: z.string().optional(),
});
export type RefusalJson = z.infer<typeof refusalSchema>;

/** `POST /api/events`: the result for one event. @group Platforms */
export const eventResultSchema = refusalSchema.extend({
  source: z.string().nullable(),
  id: z.string().nullable(),
  status: z.enum(["recorded", "duplicate", "failed"]),
  eventId: z.string().optional(),
});
export type EventResultJson = z.infer<typeof eventResultSchema>;

/** `POST /api/repos/sync`: the result for one repository. @group Platforms */
export const syncResultSchema = refusalSchema.extend({
  id: z.string().nullable(),
  status: z.enum(["created", "updated", "moved", "unchanged", "deleted", "failed"]),
});
export type SyncResultJson = z.infer<typeof syncResultSchema>;
