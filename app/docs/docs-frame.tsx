import { Search } from "lucide-react";
import type { ReactNode } from "react";
import { listGuides } from "#core/docs/read-guide.ts";
import { classNames } from "../_components/class-names.ts";
import { controlClass } from "../_components/field-frame.tsx";
import { SideFrame, SideNavigation } from "../_components/side-frame.tsx";
import { readReference } from "./sdk/reference/read-reference.ts";

const start = { href: "/docs", label: "Start here" };
const pagesOf: Readonly<Record<string, ReadonlyArray<Readonly<{ href: string; label: string }>>>> = {
  "Sign people in": [
    { href: "/docs/badges", label: "Badges" },
    { href: "/docs/consent", label: "What people see" },
  ],
  Tools: [{ href: "/docs/api", label: "API reference" }],
};
const sdkReference = { href: "/docs/sdk/reference", label: "SDK reference" };

type DocsFrameProps = Readonly<{
  search?: string;
  children: ReactNode;
}>;

export async function DocsFrame({ search = "", children }: DocsFrameProps) {
  const hasSdkReference = (await readReference("index")) !== undefined;
  const sections = (await listGuides()).map(({ label, guides }) => ({
    label,
    pages: [
      ...guides.map((guide) => ({ href: `/docs/${guide.slug}`, label: guide.label, isExact: true })),
      ...(pagesOf[label] ?? []),
      ...(label === "Tools" && hasSdkReference ? [sdkReference] : []),
    ],
  }));
  const navigation = (
    <div>
      <search>
        <form action="/docs" className="relative mb-4">
          <input
            key={search}
            name="search"
            type="search"
            aria-label="Search the docs"
            placeholder="Search the docs"
            defaultValue={search}
            maxLength={200}
            autoComplete="off"
            className={classNames(controlClass, "h-9 pr-9 text-small")}
          />
          <button type="submit" aria-label="Search" className="absolute inset-y-0 right-0 grid w-9 place-items-center text-muted">
            <Search className="size-4" aria-hidden="true" />
          </button>
        </form>
      </search>
      {/* The results of a search are at the same path, but are another page. */}
      <SideNavigation
        label="Docs"
        sections={[{ label: "Docs", pages: [{ ...start, section: search ? [] : start.href, isExact: true }] }, ...sections]}
      />
    </div>
  );
  return <SideFrame navigation={navigation}>{children}</SideFrame>;
}
