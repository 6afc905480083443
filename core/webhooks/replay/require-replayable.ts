import { ServiceError } from "../../errors.ts";

/** A disabled webhook sends nothing but tests: what is put into its queue would wait, and whoever asked with it. */
export function requireReplayable({ disabledAt }: { disabledAt: Date | null }): void {
  if (disabledAt) throw new ServiceError("conflict", "The webhook is disabled. Enable it, and then replay.");
}
