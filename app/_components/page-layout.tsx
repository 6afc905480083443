import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";

export type PageColumnProps = PageHeaderProps &
  Readonly<{
    notice?: ReactNode;
    children: ReactNode;
  }>;

export function PageColumn({ notice, children, ...header }: PageColumnProps) {
  return (
    <>
      <PageHeader {...header} />
      <div className="group/column grid grid-cols-1 gap-5">
        {/* A refusal on the page is newer than the notice, so it hides the notice. */}
        {notice && (
          <FormMessage tone="good" className="group-has-[[aria-invalid=true],[role=alert]]/column:hidden">
            {notice}
          </FormMessage>
        )}
        {children}
      </div>
    </>
  );
}

export type PageHeaderProps = Readonly<{
  title: ReactNode;
  description?: ReactNode;
  /** Links to the pages above this page, the outermost first. */
  trail?: ReadonlyArray<Readonly<{ href: string; label: ReactNode }>>;
  status?: ReactNode;
  actions?: ReactNode;
}>;

export function PageHeader({ title, description, trail, status, actions }: PageHeaderProps) {
  return (
    <header className="mb-5">
      {trail && <Trail steps={trail} />}
      <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
            <h1 className="min-w-0 break-words">{title}</h1>
            {status}
          </div>
          {description && <p className="mt-1 max-w-reading text-muted">{description}</p>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
    </header>
  );
}

export function Trail({ steps }: Readonly<{ steps: NonNullable<PageHeaderProps["trail"]> }>) {
  return (
    <nav aria-label="Breadcrumb" className="mb-1.5 text-muted text-small">
      {steps.map((step, index) => (
        <span key={step.href}>
          {index > 0 && <span aria-hidden="true"> / </span>}
          <Link prefetch={false} href={step.href} className="link">
            {step.label}
          </Link>
        </span>
      ))}
    </nav>
  );
}

type PageBodyProps = Readonly<{
  children: ReactNode;
  /** `reading` is for pages that are read or filled in from top to bottom. */
  width?: "page" | "reading";
}>;

export function PageBody({ children, width = "page" }: PageBodyProps) {
  return (
    <main id="main" className={classNames("mx-auto w-full px-4 py-7 sm:px-5", width === "page" ? "max-w-page" : "max-w-reading")}>
      {children}
    </main>
  );
}

export type SectionCardProps = Readonly<{
  title: ReactNode;
  description?: ReactNode;
  action?: ReactNode;
  isDanger?: boolean;
  /** Leaves out the padding, for rows that have padding of their own. */
  isFlush?: boolean;
  children: ReactNode;
}>;

export function SectionCard({ title, description, action, isDanger, isFlush, children }: SectionCardProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={classNames("rounded-card border bg-surface", isDanger ? "border-bad/45" : "border-line")}
    >
      <header className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-2 border-line border-b px-4 py-3.5 sm:px-5">
        <div className="min-w-0 flex-1 basis-36">
          <h2 id={id}>{title}</h2>
          {description && <p className="mt-0.5 max-w-reading text-muted text-small">{description}</p>}
        </div>
        {action}
      </header>
      <div className={isFlush ? undefined : "px-4 py-5 sm:px-5"}>{children}</div>
    </section>
  );
}

type CardProps = Readonly<{ children: ReactNode; className?: string }>;

/** The card has no padding, so that rows run to the edge. */
export function Card({ children, className }: CardProps) {
  return <div className={classNames("rounded-card border border-line bg-surface", className)}>{children}</div>;
}

const looks = {
  good: { Icon: CircleCheck, className: "bg-good-soft text-good" },
  bad: { Icon: CircleAlert, className: "bg-bad-soft text-bad" },
  warn: { Icon: TriangleAlert, className: "bg-warn-soft text-warn" },
  neutral: { Icon: Info, className: "bg-sunken text-muted" },
} as const;

type FormMessageProps = Readonly<{
  tone?: keyof typeof looks;
  children: ReactNode;
  className?: string;
}>;

/** A failure interrupts a screen reader. Other messages wait. */
export function FormMessage({ tone = "neutral", children, className }: FormMessageProps) {
  const { Icon, className: look } = looks[tone];
  return (
    <div
      role={tone === "bad" ? "alert" : "status"}
      className={classNames("flex gap-2.5 rounded-control px-3 py-2.5 text-small", look, className)}
    >
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      <div className="min-w-0 flex-1 break-words">{children}</div>
    </div>
  );
}
