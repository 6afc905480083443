import type { Metadata } from "next";
import Link from "next/link";
import { badgeHtml, badgePath } from "#core/docs/badges/badge-html.ts";
import { badgeSizes, badgeThemes, drawBadge } from "#core/docs/badges/draw-badge.ts";
import { env } from "#core/env.ts";
import { CodeBlock, UrlText } from "../../_components/copyable.tsx";
import { PageHeader, SectionCard } from "../../_components/page-layout.tsx";
import { DocsFrame } from "../docs-frame.tsx";

export const metadata: Metadata = { title: "Badges" };

const sizeNames = { sm: "Small", md: "Medium", lg: "Large" } as const;
const groundOf = { light: "bg-badge-light", dark: "bg-badge-dark" } as const;

export default function BadgesPage() {
  const { BRAND_NAME, ORIGIN } = env();
  return (
    <DocsFrame>
      <PageHeader
        title="Sign-in badges"
        description={`The button “Sign in with ${BRAND_NAME}” as an image for your site.`}
        trail={[{ href: "/docs", label: "Docs" }]}
      />
      <div className="grid max-w-discussion grid-cols-1 gap-5">
        {badgeSizes.map((size) => {
          const { label, widthPx, heightPx } = drawBadge(BRAND_NAME, size, "light");
          return (
            <SectionCard key={size} title={sizeNames[size]} description={`${widthPx} × ${heightPx} pixels, sharp at any scale.`}>
              <div className="grid grid-cols-1 gap-4">
                <div className="grid grid-cols-1 gap-px overflow-hidden rounded-control border border-line sm:grid-cols-2">
                  {badgeThemes.map((theme) => (
                    <div key={theme} className={`flex items-center justify-center px-3 py-6 ${groundOf[theme]}`}>
                      {/* biome-ignore lint/performance/noImgElement: the very file that other sites show */}
                      <img
                        src={badgePath(size, theme)}
                        alt={`${label}, ${theme}`}
                        width={widthPx}
                        height={heightPx}
                        className="max-w-full"
                      />
                    </div>
                  ))}
                </div>
                <CodeBlock
                  code={badgeHtml({ origin: ORIGIN, brand: BRAND_NAME, size })}
                  label={`${sizeNames[size]} badge as HTML`}
                />
              </div>
            </SectionCard>
          );
        })}
        <SectionCard title="Usage">
          <ul className="grid list-disc gap-2 pl-5">
            <li>
              Use your own URL instead of <code>/sign-in</code>: the one that starts the sign-in, as{" "}
              <Link prefetch={false} href="/docs/sign-in" className="link">
                the guide
              </Link>{" "}
              shows.
            </li>
            <li>
              <code>alt</code> contains the text of the image, <code>width</code> and <code>height</code> prevent layout shifts,
              and <code>picture</code> selects the dark image if the reader&rsquo;s system uses dark mode. A site with one theme
              needs only <code>img</code>.
            </li>
            <li>
              The files are public and can be cached for a day. To keep this service from seeing your visitors, copy the files to
              your own site:{" "}
              <code className="wrap-anywhere">
                curl -O <UrlText>{`${ORIGIN}${badgePath("md", "light")}`}</UrlText>
              </code>
            </li>
            <li>Do not change the colors, the text or the proportions: people recognize the button by them.</li>
          </ul>
        </SectionCard>
      </div>
    </DocsFrame>
  );
}
