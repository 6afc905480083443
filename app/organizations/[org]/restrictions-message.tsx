import type { SecurityRestriction } from "@keyhook/sdk";
import Link from "next/link";
import { FormMessage } from "../../_components/form-message.tsx";

export type RestrictionsMessageProps = Readonly<{ restrictions: readonly SecurityRestriction[] }>;

/** Tells a member what the organization asks of them before it opens, and where they do it. */
export function RestrictionsMessage({ restrictions }: RestrictionsMessageProps) {
  if (restrictions.length === 0) return null;
  return (
    <FormMessage tone="warn">
      <p className="font-medium">What is the organization's is closed to you for now, also to your tokens and apps.</p>
      {restrictions.includes("mfa") && (
        <p>
          It asks its members to sign in in two steps.{" "}
          <Link prefetch={false} href="/settings/security" className="link">
            Set up a second step
          </Link>
        </p>
      )}
      {restrictions.includes("sso") && <p>It asks its members to sign in with its own provider, at least once a week.</p>}
    </FormMessage>
  );
}
