import { BadgeCheck, Globe } from "lucide-react";
import Link from "next/link";
import { env } from "#core/env.ts";
import type { RequestingApp } from "#core/oauth/consents/consent-request.ts";
import { Chip } from "../chip.tsx";

/** Claims of the app look different from checked facts. */
export function AppIdentity({ app }: Readonly<{ app: RequestingApp }>) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5 text-muted">
        {app.documentHost === null && !app.isFirstParty && <Owner app={app} />}
        <Trust app={app} />
      </div>
      {app.documentHost !== null && <DocumentSource app={app} />}
      <Terms app={app} />
    </>
  );
}

/** Only apps that registered themselves or have a metadata document provide these links. */
function Terms({ app: { termsUrl, policyUrl } }: Readonly<{ app: RequestingApp }>) {
  const links = [
    { url: termsUrl, label: "Terms of service" },
    { url: policyUrl, label: "Privacy policy" },
  ].filter((link): link is { url: string; label: string } => link.url !== null);
  if (links.length === 0) return null;
  return (
    <ul className="mt-2 flex flex-wrap gap-x-4 text-small" aria-label="What the app says about itself">
      {links.map(({ url, label }) => (
        <li key={label}>
          <a href={url} target="_blank" rel="noopener noreferrer nofollow" className="link text-ink">
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The account that owns the app is a checked fact. The homepage is only a claim. */
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
      {isSelfRegistered && "This app registered itself: nobody here is responsible for it."}
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
      {isFirstParty ? `Part of ${BRAND_NAME}` : `Verified by ${BRAND_NAME}`}
    </Chip>
  );
}

/** Only the host of the metadata document is checked, so the page shows it in full and first (S26). */
function DocumentSource({ app: { clientId, documentHost, homepageHost, homepageUrl } }: Readonly<{ app: RequestingApp }>) {
  const { pathname = "", search = "" } = URL.parse(clientId) ?? {};
  return (
    <div className="mt-3 flex gap-2.5 rounded-control border border-line bg-sunken px-3 py-2.5">
      <Globe className="mt-1 size-4 shrink-0 text-muted" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="text-fine text-muted">Identified only by its website</p>
        <p className="wrap-anywhere font-semibold">
          <bdi>{documentHost}</bdi>
        </p>
        <p className="wrap-anywhere line-clamp-2 text-fine text-muted" title={clientId}>
          <span className="sr-only">The app describes itself at </span>
          <bdi>{pathname + search}</bdi>
        </p>
        {homepageUrl && homepageHost && (
          <p className="mt-1 wrap-anywhere text-muted text-small">
            {homepageHost !== documentHost && "Homepage, according to the app: "}
            <a href={homepageUrl} target="_blank" rel="noopener noreferrer nofollow" className="link text-ink">
              {homepageHost === documentHost ? "Homepage" : homepageHost}
            </a>
          </p>
        )}
      </div>
    </div>
  );
}
