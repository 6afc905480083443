import { MapPinOff } from "lucide-react";
import type { Metadata } from "next";
import { ButtonLink } from "./_components/button.tsx";
import { EmptyState } from "./_components/empty-state.tsx";
import { SiteFrame } from "./_components/site-frame.tsx";

export const metadata: Metadata = { title: "Not found" };

/** For what does not exist and for what the person may not see: the same, so that neither is told apart (S136). */
export default function NotFoundPage() {
  return (
    <SiteFrame>
      <main id="main" className="grid flex-1 place-items-center">
        <EmptyState
          Icon={MapPinOff}
          title={<h1>There is nothing here</h1>}
          action={<ButtonLink href="/">Go to the start</ButtonLink>}
        >
          The address may be mistyped, the page may have moved, or you may not be allowed to see it.
        </EmptyState>
      </main>
    </SiteFrame>
  );
}
