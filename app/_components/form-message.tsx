import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

const looks = {
  good: { Icon: CircleCheck, className: "bg-good-soft text-good" },
  bad: { Icon: CircleAlert, className: "bg-bad-soft text-bad" },
  warn: { Icon: TriangleAlert, className: "bg-warn-soft text-warn" },
  neutral: { Icon: Info, className: "bg-sunken text-muted" },
} as const;

export type FormMessageProps = Readonly<{
  tone?: keyof typeof looks;
  children: ReactNode;
  className?: string;
}>;

/** A sentence about a whole form or page. Failures interrupt a screen reader, the rest waits for its turn. */
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
