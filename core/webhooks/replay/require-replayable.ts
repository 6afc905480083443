import { ServiceError } from "../../errors.ts";

/** A disabled webhook sends nothing but tests: anything else in its queue would wait, and its caller too. */
export function requireReplayable({ disabledAt }: { disabledAt: Date | null }): void {
  if (disabledAt) throw new ServiceError("conflict", "The webhook is disabled. Enable it, and then replay.");
}
