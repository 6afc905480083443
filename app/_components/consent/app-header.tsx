import { BadgeCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import type { ConsentRequest, RequestingApp } from "#core/oauth/consents/consent-request.ts";
import { Avatar } from "../avatar.tsx";
import { BrandMark } from "../brand-mark.tsx";
import { Chip } from "../chip.tsx";
import { FormMessage } from "../form-message.tsx";

/** Who asks. What the app says of itself is told apart from what we know of it. */
export function AppHeader({ request, title }: Readonly<{ request: ConsentRequest; title: ReactNode }>) {
  const { app, isChanged, isOnDevice } = request;
  return (
    <header className="px-6 pt-6 pb-5">
      <div className="mb-4 flex items-center gap-3" aria-hidden="true">
        <Avatar name={app.name} src={app.logoId ? `/images/${app.logoId}` : undefined} size="lg" kind="app" />
        <span className="flex-1 border-line border-t border-dashed" />
        <span className="grid size-12 place-items-center rounded-control border border-line bg-sunken text-brand">
          <BrandMark className="size-6" />
        </span>
      </div>
      <h1 className="break-words">{title}</h1>
      <div className="mt-2 flex flex-wrap items-center gap-x-2 gap-y-1.5 text-muted">
        <Owner app={app} />
        <Verification isVerified={app.isVerified} />
      </div>
      {(isChanged || isOnDevice) && (
        <div className="mt-4 grid gap-2">
          {isChanged && (
            <FormMessage>
              You have allowed this app before. It has changed its name, its logo or where it sends you since, so it asks again.
            </FormMessage>
          )}
          {isOnDevice && (
            <FormMessage tone="warn">
              This app runs on your own device, where any program can call itself <bdi>{app.name}</bdi>. Go on only if you have
              just started it yourself.
            </FormMessage>
          )}
        </div>
      )}
    </header>
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
