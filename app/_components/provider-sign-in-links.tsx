import { ExternalLink } from "lucide-react";
import { listOfferedProviders } from "#core/accounts/identity-providers/manage-identity-providers.ts";
import { providerSignInPath } from "../_server/provider-sign-in.ts";
import { buttonClass } from "./button.tsx";

export async function ProviderSignInLinks({ next }: Readonly<{ next: string }>) {
  const providers = await listOfferedProviders();
  if (providers.length === 0) return null;
  return (
    <div className="grid gap-5">
      <p className="flex items-center gap-3 text-muted text-small before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        or
      </p>
      <ul className="grid gap-2.5" aria-label="Sign in elsewhere">
        {providers.map(({ slug, name }) => (
          <li key={slug}>
            {/* Next must not prefetch the link, because the link leads to another site. */}
            <a className={buttonClass({ isWide: true }, "min-w-0")} href={providerSignInPath(slug, { next })}>
              <span className="min-w-0 truncate">Continue with {name}</span>
              <ExternalLink className="size-4 shrink-0 text-muted" aria-hidden="true" />
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
