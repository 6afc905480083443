import type { ReactNode } from "react";
import { CardFrame } from "./card-frame.tsx";
import { CardHeader } from "./card-header.tsx";

export type GoneProps = Readonly<{
  title: string;
  children: ReactNode;
  /** The way on: to a new link, or past it. */
  action: ReactNode;
}>;

/** A mailed link that has nothing more to do: unknown, used, replaced and too old look the same. */
export function Gone({ title, children, action }: GoneProps) {
  return (
    <CardFrame>
      <CardHeader title={title}>{children}</CardHeader>
      <div className="grid px-6 pt-5 pb-6">{action}</div>
    </CardFrame>
  );
}
