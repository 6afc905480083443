import type { ReactNode } from "react";
import { BrandMark } from "./brand-mark.tsx";

export type CardHeaderProps = Readonly<{
  title: ReactNode;
  /** One sentence under the title. */
  children?: ReactNode;
}>;

/** The top of a `CardFrame`: the mark, and what this card is for. */
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
