import type { ServiceError } from "#core/errors.ts";
import { ButtonLink } from "../_components/button.tsx";
import { Gone } from "../_components/gone.tsx";

/** A code that was good a moment ago: it has run out while the person was reading, or was answered elsewhere. */
export function CodeOver({ reason }: Readonly<{ reason: ServiceError | undefined }>) {
  return (
    <Gone
      title="This code is over"
      action={
        <ButtonLink variant="primary" href="/activate">
          Enter another code
        </ButtonLink>
      }
    >
      {reason?.code === "not_found" || !reason
        ? "It has run out, or was never right. Start again on your device to get a new one."
        : reason.message}
    </Gone>
  );
}
