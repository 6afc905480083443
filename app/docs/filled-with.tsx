import Link from "next/link";
import { buttonClass } from "../_components/button.tsx";
import { Select } from "../_components/select.client.tsx";
import type { Reader } from "./reader.ts";

export type FilledWithProps = Readonly<{ reader: Reader; slug: string }>;

/** Says with what the examples of a guide are filled in, and lets the reader choose another app of theirs. */
export function FilledWith({ reader: { app, apps, isSignedIn, filling }, slug }: FilledWithProps) {
  return (
    <aside
      aria-label="What the examples are filled with"
      className="mb-5 rounded-card border border-line bg-surface px-4 py-3 text-small"
    >
      {app ? (
        <>
          <p>
            The examples have the address of this service and your app{" "}
            <Link prefetch={false} href={`/settings/applications/${app.id}`} className="link">
              {app.name}
            </Link>{" "}
            filled in. Never its secret: that is shown once, when it is made on the app&rsquo;s page, and examples read it from{" "}
            <code>CLIENT_SECRET</code>.
          </p>
          {apps.length > 1 && (
            <form action={`/docs/${slug}`} className="mt-3 flex flex-wrap items-end gap-3">
              <div className="min-w-0 flex-1 basis-56">
                <Select
                  name="app"
                  label="Fill in another app"
                  defaultValue={app.id}
                  options={apps.map(({ id, name }) => ({ value: id, label: name }))}
                />
              </div>
              <button type="submit" className={buttonClass({})}>
                Fill in
              </button>
            </form>
          )}
        </>
      ) : (
        <p>
          The examples have the address of this service, <code className="break-all">{filling.origin}</code>, filled in.{" "}
          <Link prefetch={false} href={isSignedIn ? "/settings/applications/new" : `/login?next=/docs/${slug}`} className="link">
            {isSignedIn ? "Make an app" : "Sign in"}
          </Link>
          , and they have {isSignedIn ? "its" : "your app’s"} client ID and redirect URI as well.
        </p>
      )}
    </aside>
  );
}
