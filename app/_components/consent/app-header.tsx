import type { ReactNode } from "react";
import type { ConsentRequest } from "#core/oauth/consents/consent-request.ts";
import { Avatar } from "../avatar.tsx";
import { BrandMark } from "../brand-mark.tsx";
import { AppIdentity } from "./app-identity.tsx";
import { Warnings } from "./warnings.tsx";

/** Who asks. What the app says of itself is told apart from what we know of it. */
export function AppHeader({ request, title }: Readonly<{ request: ConsentRequest; title: ReactNode }>) {
  const { app } = request;
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
      <div className="mt-2">
        <AppIdentity app={app} />
      </div>
      <Warnings request={request} />
    </header>
  );
}
