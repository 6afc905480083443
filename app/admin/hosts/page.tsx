import type { Metadata } from "next";
import { type DocumentPolicy, documentPolicies, readDocumentPolicy } from "#core/oauth/documents/hosts/document-policy.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { Choices } from "../../_components/fields.client.tsx";
import { PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { noticeOf, type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { setPolicyAction } from "../actions.ts";
import { HOSTS_PATH } from "../paths.ts";
import { DocumentsSection, RulesSection } from "./sections.tsx";

export const metadata: Metadata = { title: "App hosts · Administration" };

const notices: Record<string, string> = {
  policy: "Saved.",
  allowed: "Rule added.",
  blocked: "Host blocked. Its apps are refused, and their access is revoked.",
  removed: "Rule deleted.",
};

/** See S87. */
export default async function HostsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const operator = await requireOperator(HOSTS_PATH);
  const search = searchOf(query.search);
  const pages = { search, page: Number(textOf(query.page)), rules: Number(textOf(query.rules)) };
  return (
    <PageColumn
      title="App hosts"
      description="Some apps are not registered. Each describes itself in a document on its own website, and is identified by the host of that website."
      notice={noticeOf(notices, query.notice)}
    >
      <PolicySection />
      <RulesSection operator={operator} query={pages} />
      <DocumentsSection operator={operator} query={pages} />
    </PageColumn>
  );
}

const choices: Record<DocumentPolicy, { label: string; hint: string }> = {
  open: {
    label: "All hosts that are not blocked",
    hint: "Users decide for themselves; they see the host before they authorize an app.",
  },
  listed: { label: "Only allowed hosts", hint: "Apps of other hosts are refused." },
  off: { label: "None", hint: "Only registered apps are allowed. The rules below are kept." },
};

async function PolicySection() {
  const { policy, changedAt } = await readDocumentPolicy();
  return (
    <SectionCard
      title="Allowed hosts"
      description={
        <>
          Changes apply immediately and revoke nothing: an app that you allow again regains access.
          {changedAt && (
            <>
              {" "}
              Last changed <RelativeTime at={changedAt} />.
            </>
          )}
        </>
      }
    >
      <ActionForm action={setPolicyAction} values={{ policy }} label="Allowed hosts">
        <Choices
          legend="Allowed hosts"
          isLegendHidden
          name="policy"
          options={documentPolicies.map((value) => ({ value, ...choices[value] }))}
        />
        <SubmitButton variant="secondary">Save</SubmitButton>
      </ActionForm>
    </SectionCard>
  );
}
