import type { ReactNode } from "react";
import { signInPath } from "../_server/next-path.ts";
import { ButtonLink } from "./button.tsx";

type ProveIdentityProps = Readonly<{
  returnTo: string;
  children: ReactNode;
}>;

/** Replaces a sensitive form until the user has authenticated recently (S113). */
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
