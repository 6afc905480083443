import { Circle, CircleCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { ActionButton, type ActionButtonProps } from "./action-form.client.tsx";
import { List } from "./list.tsx";
import { SectionCard } from "./page-layout.tsx";

export type ChecklistStep = Readonly<{
  title: string;
  text: ReactNode;
  isDone: boolean;
  /** Absent if the step is done outside of our pages. */
  href?: string;
  action?: ReactNode;
}>;

type ChecklistProps = Readonly<{
  title: string;
  description?: ReactNode;
  steps: readonly ChecklistStep[];
  dismiss: ActionButtonProps["action"];
}>;

export function Checklist({ title, description, steps, dismiss }: ChecklistProps) {
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <SectionCard
      title={title}
      description={
        <>
          {done} of {steps.length} done. {description}
        </>
      }
      action={
        <ActionButton action={dismiss} label="Dismiss the checklist" variant="quiet">
          Dismiss
        </ActionButton>
      }
      isFlush
    >
      <List label={title}>
        {steps.map((step) => (
          <Step key={step.title} {...step} />
        ))}
      </List>
    </SectionCard>
  );
}

function Step({ title, text, isDone, href, action }: ChecklistStep) {
  const Icon = isDone ? CircleCheck : Circle;
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 py-3 sm:px-5">
      <Icon className={isDone ? "mt-0.5 size-5 shrink-0 text-good" : "mt-0.5 size-5 shrink-0 text-muted"} aria-hidden="true" />
      <div className="min-w-0 flex-1 basis-48">
        <p className={isDone ? "text-muted" : "font-medium"}>
          {href && !isDone ? (
            <Link prefetch={false} href={href} className="link">
              {title}
            </Link>
          ) : (
            title
          )}
          {isDone && <span className="sr-only"> (done)</span>}
        </p>
        {!isDone && <p className="text-muted text-small">{text}</p>}
      </div>
      {!isDone && action && <div className="ml-8 sm:ml-0">{action}</div>}
    </li>
  );
}
