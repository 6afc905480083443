import type { ReactNode } from "react";

/** The way elsewhere, at the bottom of a `CardFrame`. */
export function CardFooter({ children }: Readonly<{ children: ReactNode }>) {
  return <footer className="border-line border-t bg-sunken px-6 py-3.5 text-center text-muted text-small">{children}</footer>;
}
