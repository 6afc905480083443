import Link from "next/link";
import type { ReactNode } from "react";

export type PageHeaderProps = Readonly<{
  title: ReactNode;
  /** One sentence under the title. */
  description?: ReactNode;
  /** Where this page hangs, outermost first. */
  trail?: ReadonlyArray<Readonly<{ href: string; label: ReactNode }>>;
  /** Chips beside the title: a state. */
  status?: ReactNode;
  /** Buttons at the end of the line. */
  actions?: ReactNode;
}>;

/** The first lines of a page: where one is, and what can be done with the whole of it. */
export function PageHeader({ title, description, trail, status, actions }: PageHeaderProps) {
  return (
    <header className="mb-5">
      {trail && (
        <nav aria-label="Breadcrumb" className="mb-1 text-muted text-small">
          {trail.map((step) => (
            <span key={step.href}>
              <Link prefetch={false} href={step.href} className="link">
                {step.label}
              </Link>
              <span aria-hidden="true"> / </span>
            </span>
          ))}
        </nav>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0 break-words">{title}</h1>
        {status}
        {actions && <div className="flex flex-wrap gap-2 sm:ml-auto">{actions}</div>}
      </div>
      {description && <p className="mt-1 max-w-reading text-muted">{description}</p>}
    </header>
  );
}
