import { BadgeCheck } from "lucide-react";
import Link from "next/link";
import { env } from "#core/env.ts";
import type { RequestingApp } from "#core/oauth/consents/consent-request.ts";
import { Chip } from "../chip.tsx";
import { DocumentSource } from "./document-source.tsx";

/** Who is behind an app: what it says of itself is told apart from what we know of it. */
export function AppIdentity({ app }: Readonly<{ app: RequestingApp }>) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5 text-muted">
        {app.documentHost === null && !app.isFirstParty && <Owner app={app} />}
        <Trust app={app} />
      </div>
      {app.documentHost !== null && <DocumentSource app={app} />}
    </>
  );
}

/** The account that answers for the app is ours to vouch for; its homepage is only what the app names. */
function Owner({ app: { owner, isSelfRegistered, homepageHost, homepageUrl } }: Readonly<{ app: RequestingApp }>) {
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
      {isSelfRegistered && "It registered itself: nobody here answers for it."}
      {(owner || isSelfRegistered) && homepageHost && " · "}
      {homepageHost && homepageUrl && (
        <a href={homepageUrl} target="_blank" rel="noopener noreferrer nofollow" className="link text-ink">
          {homepageHost}
        </a>
      )}
    </span>
  );
}

function Trust({ app: { isFirstParty, isVerified } }: Readonly<{ app: RequestingApp }>) {
  const { BRAND_NAME } = env();
  if (!isFirstParty && !isVerified) return <Chip tone="warn">Not verified by {BRAND_NAME}</Chip>;
  return (
    <Chip tone="good">
      <BadgeCheck className="size-3.5" aria-hidden="true" />
      {isFirstParty ? `Comes with ${BRAND_NAME}` : `Verified by ${BRAND_NAME}`}
    </Chip>
  );
}
