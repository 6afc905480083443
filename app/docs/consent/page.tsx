import { describeScope, type Scope, scopes } from "@keyhook/sdk";
import type { Metadata } from "next";
import Link from "next/link";
import { env } from "#core/env.ts";
import { Chip } from "../../_components/chip.tsx";
import { PageHeader, SectionCard } from "../../_components/page-layout.tsx";
import { ScopeDanger, scopeGroups, scopeIcons } from "../../_components/scopes.tsx";
import { SiteFrame } from "../../_components/site-frame.tsx";

export const metadata: Metadata = { title: "What authorizing an app means" };

export default function ConsentHelpPage() {
  const { BRAND_NAME } = env();
  return (
    <SiteFrame width="reading">
      <PageHeader
        title="What authorizing an app means"
        description={`An app that signs you in with ${BRAND_NAME} first shows you the consent page. This page explains each part of it.`}
      />
      <div className="grid gap-5">
        <SectionCard title="In short">
          <ul className="grid list-disc gap-2 pl-5">
            <li>The app never sees your password.</li>
            <li>It can do only what is selected when you press Authorize, and what the page lists as already granted.</li>
            <li>
              You can revoke its access at any time under{" "}
              <Link prefetch={false} href="/settings/connected-applications" className="link">
                Connected apps
              </Link>
              . The app's tokens then stop working immediately.
            </li>
            <li>Cancel shares nothing: the app learns only that you denied access.</li>
          </ul>
        </SectionCard>

        <SectionCard title="Who is asking">
          <div className="grid gap-3">
            <p>
              Below the app's name, you see the homepage that the app states, and which account is responsible for the app, or
              that it registered itself and nobody here is responsible for it. <strong>Verified by {BRAND_NAME}</strong> means
              that the operator of this service has checked who is behind it. <strong>Not verified</strong> means that nobody has:
              it may be fine, but anyone can give an app any name. <strong>Part of {BRAND_NAME}</strong> means that the app is
              ours.
            </p>
            <p>
              An app that is <strong>identified only by its website</strong> is not registered here, and no account is responsible
              for it. Only the website in the box on the consent page is certain: compare it carefully with the one that you
              wanted to sign in to. Name, logo and homepage are the app's own claims. If you would return to a different website,
              the page says so.
            </p>
            <p>The site that you return to is shown near the buttons. If it is not the site that you came from, press Cancel.</p>
            <p>
              Some apps run <strong>on your own device</strong>, such as command-line tools. Nothing proves which program is
              asking, so continue only if you have just started it yourself.
            </p>
          </div>
        </SectionCard>

        <div id="devices" className="scroll-mt-4">
          <SectionCard title="On another device">
            <div className="grid gap-3">
              <p>
                A television, a command-line tool or anything else without a browser of its own shows you a code, which you enter
                here. Before you grant anything, you see which app is asking, from which IP address, and whether that address is
                on a different network from yours. The device describes itself, which proves nothing.
              </p>
              <p>
                Enter only a code that you see on a device that you are connecting yourself. If someone sent you the code, or a
                link with it, press <strong>This is not me</strong>: if you continue, they could use your account.
              </p>
            </div>
          </SectionCard>
        </div>

        <SectionCard
          title="What it will be able to do"
          description="You can deselect everything that sign-in does not need. The app learns what you left out."
          isFlush
        >
          <ScopeGlossary />
        </SectionCard>

        <SectionCard title="In which organizations">
          <div className="grid gap-3">
            <p>
              An app that you authorize can access only the organizations that are selected when you press Authorize. There it
              learns your role, and the permissions marked for organizations apply; for apps that are part of {BRAND_NAME}, all
              permissions do. It can never do more there than you can.
            </p>
            <p>
              <strong>Requested by the app</strong> means that the app asked for this organization. Deselect it if you do not
              agree. <strong>All current and future organizations</strong> also covers those that you join later.
            </p>
          </div>
        </SectionCard>

        <SectionCard title="For how long">
          <p>
            Access lasts as long as the page says, usually 8 hours. Then the app must ask again. You see no question if a website
            requests nothing new, has not changed, and you are still signed in here. Apps on your own device and devices with a
            code ask each time. If the page says that the app <strong>stays signed in</strong>, it renews its access for up to a
            year, unless you revoke it or the app does not use it for 60 days.
          </p>
        </SectionCard>
      </div>
    </SiteFrame>
  );
}

function ScopeGlossary() {
  return scopeGroups.map(({ group, label }) => (
    <section key={group} aria-label={label} className="border-line px-4 py-4 not-first:border-t sm:px-5">
      <h3 className="text-fine text-muted">{label}</h3>
      <dl className="mt-1 divide-y divide-line">
        {scopes
          .filter((scope) => describeScope(scope).group === group)
          .map((scope) => (
            <Entry key={scope} scope={scope} />
          ))}
      </dl>
    </section>
  ));
}

function Entry({ scope }: Readonly<{ scope: Scope }>) {
  const { sentence, note, coversOrganizations } = describeScope(scope);
  const Icon = scopeIcons[scope];
  return (
    <div className="py-2.5">
      <dt className="flex items-start gap-3">
        <Icon className="mt-1 size-4 shrink-0 text-muted" aria-hidden="true" />
        <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          {sentence}
          <ScopeDanger scope={scope} />
          {coversOrganizations && <Chip>Also in selected organizations</Chip>}
        </span>
      </dt>
      <dd className="pl-7 text-muted text-small">
        {note} <code className="text-fine">{scope}</code>
      </dd>
    </div>
  );
}
