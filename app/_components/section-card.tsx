import { type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";

export type SectionCardProps = Readonly<{
  title: ReactNode;
  /** One or two sentences: what this part is for. */
  description?: ReactNode;
  /** A button or chip at the end of the title's line. */
  action?: ReactNode;
  /** Sets the part apart where acts cannot be undone. */
  isDanger?: boolean;
  /** Rows bring their own padding and run to the edge. */
  isFlush?: boolean;
  children: ReactNode;
}>;

/** One subject of a settings page: a titled region on a card. */
export function SectionCard({ title, description, action, isDanger, isFlush, children }: SectionCardProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={classNames("rounded-card border bg-surface", isDanger ? "border-bad/45" : "border-line")}
    >
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 border-line border-b px-4 py-3.5 sm:px-5">
        <div className="min-w-0">
          <h2 id={id}>{title}</h2>
          {description && <p className="mt-0.5 max-w-reading text-muted text-small">{description}</p>}
        </div>
        {action}
      </header>
      <div className={isFlush ? undefined : "px-4 py-5 sm:px-5"}>{children}</div>
    </section>
  );
}
