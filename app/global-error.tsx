"use client";

import "./globals.css";
import { unstable_isUnrecognizedActionError } from "next/navigation";
import { buttonClass } from "./_components/button-class.ts";
import { EmptyState } from "./_components/empty-state.tsx";

type ErrorPageProps = Readonly<{
  /** Next replaces the server's message with a digest. The log has the cause with the same digest. */
  error: Error & { digest?: string };
  retry: () => void;
}>;

/** This script is part of every page, so it does not use `Button`, which would add Next's links. */
export default function GlobalErrorPage({ error, retry }: ErrorPageProps) {
  const isStale: boolean = unstable_isUnrecognizedActionError(error);
  return (
    <html lang="en" data-theme={typeof document === "undefined" ? undefined : document.documentElement.dataset.theme}>
      <body className="flex min-h-dvh flex-col">
        <title>{isStale ? "Out of date" : "Something went wrong"}</title>
        <main id="main" className="grid flex-1 place-items-center">
          {isStale ? <Stale /> : <Failed digest={error.digest} retry={retry} />}
        </main>
      </body>
    </html>
  );
}

function Failed({ digest, retry }: Readonly<{ digest: string | undefined; retry: () => void }>) {
  return (
    <EmptyState
      title={<h1>Something went wrong{digest && " on our side"}</h1>}
      action={<Reload onClick={retry}>Try again</Reload>}
    >
      {digest ? (
        <>
          This is not your fault, and the error was logged. Trying again often helps. If you report it, include this ID:{" "}
          <code className="select-all">{digest}</code>
        </>
      ) : (
        "Check your connection and try again. If that does not help, reload the page."
      )}
    </EmptyState>
  );
}

/** The page was opened before an update of the service. */
function Stale() {
  return (
    <EmptyState
      title={<h1>This page is out of date</h1>}
      action={<Reload onClick={() => window.location.reload()}>Reload the page</Reload>}
    >
      The service was updated while this page was open. Nothing was changed. Reload the page and try again.
    </EmptyState>
  );
}

function Reload(button: Readonly<{ onClick: () => void; children: string }>) {
  return <button type="button" className={buttonClass({})} {...button} />;
}
