import { MapPinOff } from "lucide-react";
import type { Metadata } from "next";
import { env } from "#core/env.ts";
import { ButtonLink } from "./_components/button.tsx";
import { EmptyState } from "./_components/empty-state.tsx";
import { SiteFrame } from "./_components/site-frame.tsx";
import RootLayout, { generateMetadata as layoutMetadata, viewport } from "./layout.tsx";

export { viewport };

/** Next renders this page without a layout. */
export function generateMetadata(): Metadata {
  return { ...layoutMetadata(), title: `Not found · ${env().BRAND_NAME}` };
}

/** Missing and hidden pages must look the same (S136). */
export default function GlobalNotFoundPage() {
  return (
    <RootLayout>
      <SiteFrame>
        <main id="main" className="grid flex-1 place-items-center">
          <EmptyState Icon={MapPinOff} title={<h1>Page not found</h1>} action={<ButtonLink href="/">Go home</ButtonLink>}>
            The URL may be mistyped, the page may have moved, or you may not have access to it.
          </EmptyState>
        </main>
      </SiteFrame>
    </RootLayout>
  );
}
