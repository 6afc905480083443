import { CircleCheck, CircleSlash } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import type { ErrorCode, ServiceError } from "#core/errors.ts";
import { ButtonLink } from "../_components/button.tsx";
import { CardFrame, Gone } from "../_components/card-frame.tsx";
import { classNames } from "../_components/class-names.ts";
import { switchAccount } from "./actions.ts";

const EXPIRED = "This code has expired";

const titles: Partial<Record<ErrorCode, string>> = {
  conflict: "This code was already used",
  gone: "This app is no longer available",
  rate_limited: "Too many codes were entered",
};

export function CodeOver({ reason }: Readonly<{ reason: ServiceError | undefined }>) {
  return (
    <Gone
      title={(reason && titles[reason.code]) ?? EXPIRED}
      action={
        <ButtonLink variant="primary" href="/activate">
          Enter another code
        </ButtonLink>
      }
    >
      {!reason || reason.code === "not_found" ? "Start again on your device to get a new one." : reason.message}
    </Gone>
  );
}

const looks = {
  good: { Icon: CircleCheck, className: "bg-good-soft text-good" },
  neutral: { Icon: CircleSlash, className: "bg-sunken text-muted" },
} as const;

type OutcomeProps = Readonly<{ tone: keyof typeof looks; title: ReactNode; children: ReactNode }>;

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

export function AboutDevices() {
  return (
    <Link prefetch={false} href="/docs/consent#devices" target="_blank" className="link">
      What does this mean?
    </Link>
  );
}

/** Switching the account releases the code, so this is a form and not a link. */
export function SwitchAccount({ userCode }: Readonly<{ userCode: string }>) {
  return (
    <form action={switchAccount}>
      <input type="hidden" name="user_code" value={userCode} />
      <button type="submit" className="link">
        Switch account
      </button>
    </form>
  );
}
