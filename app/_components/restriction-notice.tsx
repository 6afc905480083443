import { listOwnRestrictions, type OwnRestriction } from "#core/accounts/organizations/security/list-own-restrictions.ts";
import { elsewherePath } from "../_server/elsewhere.ts";
import { buttonClass } from "./button.tsx";
import { FormMessage } from "./form-message.tsx";

export type RestrictionNoticeProps = Readonly<{
  userId: string;
  /** Of this organization alone. */
  orgId?: string;
  /** The page it stands on, to come back to. */
  next: string;
  className?: string;
}>;

/** What organizations ask of their member's sign-in before their things open, with the next step. Draws nothing when all is met. */
export async function RestrictionNotice({ userId, orgId, next, className }: RestrictionNoticeProps) {
  const restricted = await listOwnRestrictions(userId, orgId);
  if (restricted.length === 0) return null;
  return (
    <div className={className}>
      <div className="grid gap-3">
        {restricted.map((organization) => (
          <FormMessage key={organization.orgId} tone="warn">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
              <p className="min-w-0 flex-1 basis-60">
                <bdi className="font-medium">{organization.fullName}</bdi> {askedFor(organization)} Until then what is theirs is
                closed to you, and to your apps and tokens.
              </p>
              <Steps organization={organization} next={next} />
            </div>
          </FormMessage>
        ))}
      </div>
    </div>
  );
}

function askedFor({ restrictions, provider }: OwnRestriction): string {
  const asked = [
    ...(restrictions.includes("mfa") ? ["to sign in in two steps"] : []),
    ...(restrictions.includes("sso")
      ? [`to sign in with ${provider?.name ?? "its issuer, which is out of use"} every 7 days`]
      : []),
  ];
  return `asks you ${asked.join(", and ")}.`;
}

function Steps({ organization: { restrictions, provider }, next }: Readonly<{ organization: OwnRestriction; next: string }>) {
  return (
    <span className="flex flex-wrap gap-2">
      {restrictions.includes("mfa") && (
        <a className={buttonClass({ size: "small" })} href="/settings/security">
          Set up a second step
        </a>
      )}
      {restrictions.includes("sso") && provider && (
        <a className={buttonClass({ size: "small" }, "min-w-0 max-w-full")} href={elsewherePath(provider.slug, { next })}>
          <span className="truncate">Sign in with {provider.name}</span>
        </a>
      )}
    </span>
  );
}
