import { listOwnRestrictions, type OwnRestriction } from "#core/accounts/organizations/security/list-restricted-members.ts";
import { providerSignInPath } from "../_server/provider-sign-in.ts";
import { buttonClass } from "./button.tsx";
import { FormMessage } from "./page-layout.tsx";

type RestrictionNoticeProps = Readonly<{
  userId: string;
  orgId?: string;
  next: string;
  className?: string;
}>;

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
                <bdi className="font-medium">{organization.fullName}</bdi> {askedFor(organization)} {consequence(organization)}
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
    ...(restrictions.includes("mfa") ? ["to sign in with a second step"] : []),
    ...(restrictions.includes("sso")
      ? [`to sign in every 7 days with ${provider?.name ?? "its issuer, which the operator has disabled"}`]
      : []),
  ];
  return `requires you ${asked.join(", and ")}.`;
}

function consequence({ restrictions, provider }: OwnRestriction): string {
  const isPossible = provider !== null || !restrictions.includes("sso");
  if (isPossible) return "Until you do, you, your apps and your tokens have no access to it.";
  return "You, your apps and your tokens have no access until it is enabled again. Ask an administrator of the organization.";
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
        <a className={buttonClass({ size: "small" }, "min-w-0 max-w-full")} href={providerSignInPath(provider.slug, { next })}>
          <span className="truncate">Sign in with {provider.name}</span>
        </a>
      )}
    </span>
  );
}
