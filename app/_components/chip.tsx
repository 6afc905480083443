import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

const tones = {
  neutral: "bg-sunken text-muted",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
} as const;

export type ChipProps = Readonly<{ tone?: keyof typeof tones; children: ReactNode }>;

export function Chip({ tone = "neutral", children }: ChipProps) {
  return (
    <span
      className={classNames("inline-flex min-h-6 items-center gap-1.5 rounded-full px-2.5 font-medium text-fine", tones[tone])}
    >
      {children}
    </span>
  );
}
