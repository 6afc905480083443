import Link from "next/link";
import type { ConsentRequest } from "#core/oauth/consents/consent-request.ts";
import { SubmitButton } from "../submit-button.client.tsx";
import { spokenDuration } from "./spoken-duration.ts";

/** Two buttons of equal reach, and what pressing them leads to. Cancel comes first, so that Enter in a field gives nothing away. */
export function Decision({ request }: Readonly<{ request: ConsentRequest }>) {
  const { redirectTarget, isOnDevice, accessTokenSeconds, isOffline } = request;
  const duration = spokenDuration(accessTokenSeconds);
  return (
    <footer className="border-line border-t px-6 py-4">
      <div className="grid grid-cols-2 gap-3">
        <SubmitButton name="decision" value="deny" variant="secondary">
          Cancel
        </SubmitButton>
        <SubmitButton name="decision" value="allow">
          Authorize
        </SubmitButton>
      </div>
      <p className="mt-3 wrap-anywhere text-center text-muted text-small">
        {redirectTarget === null ? (
          "Go back to your device afterwards: it goes on by itself. "
        ) : (
          <>
            You return to {isOnDevice && "the app on this device, "}
            <strong className="text-ink">{redirectTarget}</strong>.{" "}
          </>
        )}
        {isOffline ? (
          <>
            Access lasts {duration} at a time, and the app{" "}
            <strong className="text-ink">stays signed in until you revoke it</strong>
          </>
        ) : (
          <>Access lasts {duration} at a time; end it whenever you like</>
        )}{" "}
        under{" "}
        <Link prefetch={false} href="/settings/connected-applications" target="_blank" className="link">
          Connected apps
        </Link>
        .
      </p>
    </footer>
  );
}
