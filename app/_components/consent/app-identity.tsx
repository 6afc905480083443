import { BadgeCheck } from "lucide-react";
import Link from "next/link";
import { env } from "#core/env.ts";
import type { RequestingApp } from "#core/oauth/consents/consent-request.ts";
import { Chip } from "../chip.tsx";

/** Who is behind an app, as one line: what it says of itself is told apart from what we know of it. */
export function AppIdentity({ app }: Readonly<{ app: RequestingApp }>) {
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5 text-muted">
      <Owner app={app} />
      <Verification isVerified={app.isVerified} />
    </div>
  );
}

/** The account that answers for the app is ours to vouch for; its homepage is only what the app names. */
function Owner({ app: { owner, homepageHost, homepageUrl } }: Readonly<{ app: RequestingApp }>) {
  return (
    <span className="min-w-0 break-words">
      {owner && (
        <>
          by{" "}
          <Link prefetch={false} href={`/${owner.handle}`} target="_blank" className="link text-ink">
            <bdi>{owner.name || owner.handle}</bdi>
          </Link>
          {owner.name.toLowerCase() !== owner.handle.toLowerCase() && ` (${owner.handle})`}
        </>
      )}
      {owner && homepageHost && " · "}
      {homepageHost && homepageUrl && (
        <a href={homepageUrl} target="_blank" rel="noopener noreferrer nofollow" className="link text-ink">
          {homepageHost}
        </a>
      )}
    </span>
  );
}

function Verification({ isVerified }: Readonly<{ isVerified: boolean }>) {
  const { BRAND_NAME } = env();
  if (!isVerified) return <Chip tone="warn">Not verified by {BRAND_NAME}</Chip>;
  return (
    <Chip tone="good">
      <BadgeCheck className="size-3.5" aria-hidden="true" />
      Verified by {BRAND_NAME}
    </Chip>
  );
}
