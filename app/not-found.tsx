import type { Metadata } from "next";
import { buttonClass } from "./_components/button-class.ts";
import { EmptyState } from "./_components/empty-state.tsx";

export const metadata: Metadata = { title: "Not found" };

/** Next includes this page in every page, so it has no frame and no icon. app/global-not-found.tsx is for missing URLs. */
export default function NotFoundPage() {
  return (
    <main id="main" className="grid flex-1 place-items-center">
      <EmptyState
        title={<h1>Page not found</h1>}
        action={
          <a href="/" className={buttonClass({})}>
            Go home
          </a>
        }
      >
        The URL may be mistyped, the page may have moved, or you may not have access to it.
      </EmptyState>
    </main>
  );
}
