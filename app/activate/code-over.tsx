import type { ErrorCode, ServiceError } from "#core/errors.ts";
import { ButtonLink } from "../_components/button.tsx";
import { Gone } from "../_components/gone.tsx";

const RUN_OUT = "This code has run out";

const titles: Partial<Record<ErrorCode, string>> = {
  conflict: "This code was answered already",
  rate_limited: "Too many codes were entered",
};

/** A code that was good a moment ago: it has run out while the person was reading, or was answered in another tab. */
export function CodeOver({ reason }: Readonly<{ reason: ServiceError | undefined }>) {
  return (
    <Gone
      title={(reason && titles[reason.code]) ?? RUN_OUT}
      action={
        <ButtonLink variant="primary" href="/activate">
          Enter another code
        </ButtonLink>
      }
    >
      {!reason || reason.code === "not_found" ? "Start again on your device to get a new one." : reason.message}
    </Gone>
  );
}
