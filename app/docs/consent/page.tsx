import type { Metadata } from "next";
import Link from "next/link";
import { env } from "#core/env.ts";
import { PageBody } from "../../_components/page-body.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SiteFrame } from "../../_components/site-frame.tsx";
import { ScopeGlossary } from "./scope-glossary.tsx";

export const metadata: Metadata = { title: "What authorizing an app means" };

/** What stands behind "What does this mean?" on the permissions modal: for people, not for developers. */
export default function ConsentHelpPage() {
  const { BRAND_NAME } = env();
  return (
    <SiteFrame>
      <PageBody width="reading">
        <PageHeader
          title="What authorizing an app means"
          description={`An app asked to sign you in with ${BRAND_NAME}. Here is what the page that asks you says, part by part.`}
        />
        <div className="grid gap-5">
          <SectionCard title="In short">
            <ul className="grid list-disc gap-2 pl-5">
              <li>The app never sees your password. You typed it here, and it stays here.</li>
              <li>It can do what is ticked when you press Authorize, and nothing else.</li>
              <li>
                You can take it back at any moment under{" "}
                <Link prefetch={false} href="/settings/connected-applications" className="link">
                  Connected apps
                </Link>
                ; it stops working there and then.
              </li>
              <li>Cancel shares nothing. You return to the app, and it learns only that you refused.</li>
            </ul>
          </SectionCard>

          <SectionCard title="Who is asking">
            <div className="grid gap-3">
              <p>
                Below the app&rsquo;s name stands the account here that answers for it, and the homepage that the app names for
                itself. <strong>Verified by {BRAND_NAME}</strong> means that the operator of this service has checked who is
                behind it. <strong>Not verified</strong> means that nobody has: it may be perfectly fine, but anybody can write
                any name on an app. <strong>Comes with {BRAND_NAME}</strong> means that the app is ours.
              </p>
              <p>
                An app that is <strong>known by its website only</strong> has no account here. What is certain about it is the
                website in that box, which describes it: compare it with the one that you wanted to sign in to, letter for letter
                and to its end. Name, logo and homepage are what the app says of itself. If your answer would go to another
                website than that, the page says so.
              </p>
              <p>
                Near the buttons stands the address that you return to. If it is not the site that you came from, press Cancel.
              </p>
              <p>
                Some apps run <strong>on your own device</strong>, such as command-line tools. Nothing proves which program there
                is asking, so go on only if you have just started it yourself.
              </p>
            </div>
          </SectionCard>

          <div id="devices" className="scroll-mt-4">
            <SectionCard title="On another device">
              <div className="grid gap-3">
                <p>
                  A television, a command line or anything else without a browser of its own shows you a code, which you enter
                  here. Before anything is granted you see which app asks, from which address, and whether that is another network
                  than yours. The description of the device is its own and proves nothing.
                </p>
                <p>
                  Enter only a code that you see on a device that you are connecting yourself. Whoever sends you one, by mail, by
                  telephone or as a link, would get in with your account: press <strong>This is not me</strong>.
                </p>
              </div>
            </SectionCard>
          </div>

          <SectionCard
            title="What it will be able to do"
            description="What signing in needs cannot be unticked; all the rest can. The app is told what you left out."
            isFlush
          >
            <ScopeGlossary />
          </SectionCard>

          <SectionCard title="In which organizations">
            <div className="grid gap-3">
              <p>
                An app that you authorize does not reach the organizations that you are in, unless you tick them. In those that
                you tick it learns your role, and what you allowed above counts there where it is marked so. It never may more
                there than you may yourself.
              </p>
              <p>
                <strong>Asked for by the app</strong> means that the app named this organization. It is ticked for you; untick it
                if you do not agree. <strong>All current and future organizations</strong> also counts for those that you join
                later.
              </p>
            </div>
          </SectionCard>

          <SectionCard title="For how long">
            <p>
              Each time, access lasts as long as the page says, usually 8 hours. Then the app has to come back, which needs no
              click while nothing new is asked. Where the page says that the app <strong>stays signed in</strong>, it renews its
              access by itself, until you revoke it.
            </p>
          </SectionCard>
        </div>
      </PageBody>
    </SiteFrame>
  );
}
