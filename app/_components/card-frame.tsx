import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { Card } from "./card.tsx";
import { classNames } from "./class-names.ts";
import { ThemeSwitch } from "./theme-switch.tsx";

export type CardFrameProps = Readonly<{
  /** `sign-in` for a form of a few fields, `modal` for the consent and device pages. */
  width?: "sign-in" | "modal";
  /** Stands under the card: "What does this mean?" */
  footnote?: ReactNode;
  children: ReactNode;
}>;

/** One calm card in the middle of the page and nothing else to press: sign-in, consent, device, and what mails link to. */
export function CardFrame({ width = "sign-in", footnote, children }: CardFrameProps) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center px-4 py-8">
      <main id="main" className={classNames("w-full", width === "sign-in" ? "max-w-sign-in" : "max-w-modal")}>
        <Card className="overflow-hidden shadow-modal">{children}</Card>
      </main>
      <footer className="mt-5 flex flex-wrap items-center justify-center gap-x-3 gap-y-2 text-muted text-small">
        <Link prefetch={false} href="/" className="link">
          {env().BRAND_NAME}
        </Link>
        {footnote}
        <ThemeSwitch />
      </footer>
    </div>
  );
}
