import type { Metadata } from "next";
import { FormMessage } from "../../_components/form-message.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { noticeOf, type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { DocumentsSection } from "./documents-section.tsx";
import { HOSTS_PATH } from "./hosts-path.ts";
import { PolicySection } from "./policy-section.tsx";
import { RulesSection } from "./rules-section.tsx";

export const metadata: Metadata = { title: "App hosts · Administration" };

/** What just happened, said once after a redirect. */
const notices: Record<string, string> = {
  policy: "Saved. It holds from now on.",
  allowed: "The host is allowed.",
  blocked: "The host is blocked. Its apps are refused, and what people had allowed them has ended.",
  removed: "The rule is removed.",
};

/** Whose metadata documents are taken (S87), and which have been seen. */
export default async function HostsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const operator = await requireOperator(HOSTS_PATH);
  const search = searchOf(query.search);
  const pages = { search, page: Number(textOf(query.page)), rules: Number(textOf(query.rules)) };
  const notice = noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader
        title="App hosts"
        description="Some apps are registered nowhere: each describes itself in a document on a website of its own, and is known by the host of that website."
      />
      <div className="grid grid-cols-1 gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <PolicySection />
        <RulesSection operator={operator} query={pages} />
        <DocumentsSection operator={operator} query={pages} />
      </div>
    </>
  );
}
