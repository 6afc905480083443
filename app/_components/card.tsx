import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

export type CardProps = Readonly<{ children: ReactNode; className?: string }>;

/** A raised surface. It has no padding of its own: rows run to its edge. */
export function Card({ children, className }: CardProps) {
  return <div className={classNames("rounded-card border border-line bg-surface", className)}>{children}</div>;
}
