import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { BrandMark } from "./brand-mark.tsx";
import { classNames } from "./class-names.ts";
import { Card } from "./page-layout.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

type CardFrameProps = Readonly<{
  /** `sign-in` for a form of a few fields, `modal` for the consent and device pages. */
  width?: "sign-in" | "modal";
  footnote?: ReactNode;
  children: ReactNode;
}>;

export function CardFrame({ width = "sign-in", footnote, children }: CardFrameProps) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center px-4 py-8">
      <main id="main" className={classNames("w-full", width === "sign-in" ? "max-w-sign-in" : "max-w-modal")}>
        <Card className="overflow-clip shadow-modal">{children}</Card>
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

type CardHeaderProps = Readonly<{
  title: ReactNode;
  children?: ReactNode;
}>;

export function CardHeader({ title, children }: CardHeaderProps) {
  return (
    <header className="px-6 pt-6">
      <span className="grid size-12 place-items-center rounded-card border border-line bg-sunken text-brand">
        <BrandMark className="size-6" />
      </span>
      <h1 className="mt-4 break-words">{title}</h1>
      {children && <p className="mt-1.5 text-muted">{children}</p>}
    </header>
  );
}

export function CardFooter({ children }: Readonly<{ children: ReactNode }>) {
  return <footer className="border-line border-t bg-sunken px-6 py-3.5 text-center text-muted text-small">{children}</footer>;
}

type GoneProps = Readonly<{
  title: ReactNode;
  children: ReactNode;
  action: ReactNode;
}>;

/** The page for unknown, used, replaced and expired links, which must look the same. */
export function Gone({ title, children, action }: GoneProps) {
  return (
    <CardFrame>
      <CardHeader title={title}>{children}</CardHeader>
      <div className="grid px-6 pt-5 pb-6">{action}</div>
    </CardFrame>
  );
}
