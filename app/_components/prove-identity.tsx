import type { ReactNode } from "react";
import { signInPath } from "../_server/next-path.ts";
import { ButtonLink } from "./button.tsx";

export type ProveIdentityProps = Readonly<{
  /** The path of this page. */
  returnTo: string;
  /** What it is for. */
  children: ReactNode;
}>;

/** Stands in for a sensitive form until the person has proved who they are a short while ago (S113): before typing, not after. */
export function ProveIdentity({ returnTo, children }: ProveIdentityProps) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <p className="text-muted">{children}</p>
      <ButtonLink href={signInPath(returnTo, { isReauthentication: true })} size="small">
        Confirm it
      </ButtonLink>
    </div>
  );
}
