import { Globe } from "lucide-react";
import type { RequestingApp } from "#core/oauth/consents/consent-request.ts";

/**
 * Where an app comes from that nobody registered here: the host that serves its metadata document is the one thing about it that
 * was checked, so it is shown whole, however long, and before all that the app says of itself (S26).
 */
export function DocumentSource({ app: { clientId, documentHost, homepageHost, homepageUrl } }: Readonly<{ app: RequestingApp }>) {
  const { pathname = "", search = "" } = URL.parse(clientId) ?? {};
  return (
    <div className="mt-3 flex gap-2.5 rounded-control border border-line bg-sunken px-3 py-2.5">
      <Globe className="mt-1 size-4 shrink-0 text-muted" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="text-fine text-muted">Known by its website only</p>
        <p className="wrap-anywhere font-semibold">
          <bdi>{documentHost}</bdi>
        </p>
        <p className="wrap-anywhere line-clamp-2 text-fine text-muted" title={clientId}>
          <span className="sr-only">Its description is at </span>
          <bdi>{pathname + search}</bdi>
        </p>
        {homepageUrl && homepageHost && (
          <p className="mt-1 wrap-anywhere text-muted text-small">
            {homepageHost !== documentHost && "It names as its homepage: "}
            <a href={homepageUrl} target="_blank" rel="noopener noreferrer nofollow" className="link text-ink">
              {homepageHost === documentHost ? "Homepage" : homepageHost}
            </a>
          </p>
        )}
      </div>
    </div>
  );
}
