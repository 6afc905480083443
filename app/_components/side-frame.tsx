import type { ReactNode } from "react";
import { SiteFrame } from "./site-frame.tsx";

export type SideFrameProps = Readonly<{
  /** A `SideNavigation`. */
  navigation: ReactNode;
  children: ReactNode;
}>;

/** The frame of settings: the header, the pages of the subject at the side, and the page. */
export function SideFrame({ navigation, children }: SideFrameProps) {
  return (
    <SiteFrame>
      <div className="mx-auto w-full max-w-page px-4 py-7 sm:px-5 lg:grid lg:grid-cols-(--columns-side) lg:gap-8">
        {navigation}
        <main id="main" className="min-w-0">
          {children}
        </main>
      </div>
    </SiteFrame>
  );
}
