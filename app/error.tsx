"use client";

import { CloudAlert, RefreshCw } from "lucide-react";
import { unstable_isUnrecognizedActionError } from "next/navigation";
import { Button } from "./_components/button.tsx";
import { EmptyState } from "./_components/empty-state.tsx";

export type ErrorPageProps = Readonly<{
  /** Next replaces messages of the server by a digest, under which the log has the cause. */
  error: Error & { digest?: string };
  retry: () => void;
}>;

/**
 * A page that failed while the person was on it; one that fails when it is opened is server/failure-page.ts's. The frame around
 * it may be what failed, so it stands alone.
 */
export default function ErrorPage({ error, retry }: ErrorPageProps) {
  const isStale: boolean = unstable_isUnrecognizedActionError(error);
  if (isStale) return <StalePage />;
  return (
    <main id="main" className="grid flex-1 place-items-center">
      <EmptyState
        Icon={CloudAlert}
        title={<h1>Something went wrong on our side</h1>}
        action={<Button onClick={retry}>Try again</Button>}
      >
        It is not your fault, and it is written down. Often it works at the second try.
        {error.digest && (
          <>
            {" "}
            If you report it, name this: <code className="select-all">{error.digest}</code>
          </>
        )}
      </EmptyState>
    </main>
  );
}

/** A button of a page from before an update; forms with fields say so themselves (keep-typed.client.ts). */
function StalePage() {
  return (
    <main id="main" className="grid flex-1 place-items-center">
      <EmptyState
        Icon={RefreshCw}
        title={<h1>This page is from before an update</h1>}
        action={<Button onClick={() => window.location.reload()}>Reload the page</Button>}
      >
        The service was updated while you had it open. Nothing was changed: reload the page, and press once more.
      </EmptyState>
    </main>
  );
}
