import { CircleCheck, CircleSlash } from "lucide-react";
import type { ReactNode } from "react";
import { CardFrame } from "../_components/card-frame.tsx";
import { classNames } from "../_components/class-names.ts";

const looks = {
  good: { Icon: CircleCheck, className: "bg-good-soft text-good" },
  neutral: { Icon: CircleSlash, className: "bg-sunken text-muted" },
} as const;

export type OutcomeProps = Readonly<{ tone: keyof typeof looks; title: ReactNode; children: ReactNode }>;

/** The last page: what came of it, and that there is nothing left to do here. */
export function Outcome({ tone, title, children }: OutcomeProps) {
  const { Icon, className } = looks[tone];
  return (
    <CardFrame>
      <div className="grid justify-items-center gap-4 px-6 py-8 text-center">
        <span className={classNames("grid size-12 place-items-center rounded-full", className)}>
          <Icon className="size-6" aria-hidden="true" />
        </span>
        <h1 className="break-words">{title}</h1>
        {children}
      </div>
    </CardFrame>
  );
}
