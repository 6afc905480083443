import type { ReactNode } from "react";
import { signInPath } from "../_server/next-path.ts";
import { ButtonLink } from "./button.tsx";

type ProveIdentityProps = Readonly<{
  /** The path of this page. */
  returnTo: string;
  /** Why authentication is needed. */
  children: ReactNode;
}>;

/** Replaces a sensitive form until the person has authenticated recently (S113), so that they authenticate before they fill the form in. */
export function ProveIdentity({ returnTo, children }: ProveIdentityProps) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <p className="text-muted">{children}</p>
      <ButtonLink href={signInPath(returnTo, { isReauthentication: true })} size="small">
        Confirm
      </ButtonLink>
    </div>
  );
}
