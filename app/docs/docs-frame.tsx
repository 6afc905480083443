import type { ReactNode } from "react";
import { listGuides } from "#core/docs/read-guide.ts";
import { SideFrame } from "../_components/side-frame.tsx";
import { SideNavigation } from "../_components/side-navigation.tsx";

/** What stands in the navigation beside the guides: pages that are no Markdown. */
const start = { label: "Docs", pages: [{ href: "/docs", label: "Start here", isExact: true }] };
const pagesOf: Readonly<Record<string, ReadonlyArray<Readonly<{ href: string; label: string }>>>> = {
  "Sign people in": [
    { href: "/docs/badges", label: "Badges" },
    { href: "/docs/consent", label: "What people see" },
  ],
  Tools: [{ href: "/docs/api", label: "API reference" }],
};

/** Frame and navigation of every page of the documentation. */
export async function DocsFrame({ children }: Readonly<{ children: ReactNode }>) {
  const sections = (await listGuides()).map(({ label, guides }) => ({
    label,
    pages: [...guides.map((guide) => ({ href: `/docs/${guide.slug}`, label: guide.label })), ...(pagesOf[label] ?? [])],
  }));
  return <SideFrame navigation={<SideNavigation label="Docs" sections={[start, ...sections]} />}>{children}</SideFrame>;
}
