"use client";

import { CloudAlert } from "lucide-react";
import { Button } from "./_components/button.tsx";
import { EmptyState } from "./_components/empty-state.tsx";

export type ErrorPageProps = Readonly<{
  /** Next replaces messages of the server by a digest, under which the log has the cause. */
  error: Error & { digest?: string };
  retry: () => void;
}>;

/** A page that failed. The frame around it may be what failed, so it stands alone. */
export default function ErrorPage({ error, retry }: ErrorPageProps) {
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
