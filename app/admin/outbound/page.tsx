import { CircleCheck, CircleX } from "lucide-react";
import type { Metadata } from "next";
import { env } from "#core/env.ts";
import { examineOutbound } from "#core/operations/examine-outbound.ts";
import type { Examined } from "#core/outbound/parse-target.ts";
import { buttonClass } from "../../_components/button.tsx";
import { Field } from "../../_components/fields.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { FormMessage, PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";

export const metadata: Metadata = { title: "Outbound requests · Administration" };

const PAGE = "/admin/outbound";

export default async function AdminOutboundPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const operator = await requireOperator(PAGE);
  const url = textOf(query.url).trim();
  const examined = url ? await examineOutbound(operator, url) : undefined;
  const ranges = env().OUTBOUND_ALLOW_CIDRS;
  return (
    <PageColumn
      title="Outbound requests"
      description="Requests for metadata documents, key sets, webhooks and sign-out notices go to URLs that users and apps choose. They must not reach your internal network."
    >
      <SectionCard
        title="Allowed addresses"
        description={
          <>
            Set by <code>OUTBOUND_ALLOW_CIDRS</code> when the service starts.
          </>
        }
      >
        <ul className="grid list-disc gap-1.5 pl-5">
          <li>Every public address. A host name is used only if all its addresses are allowed.</li>
          {ranges.length === 0 ? (
            <li>Nothing else: no private addresses, no loopback, no cloud metadata services.</li>
          ) : (
            ranges.map((range) => (
              <li key={range}>
                <code className="break-all">{range}</code>, although it may be private
              </li>
            ))
          )}
          <li>Redirects are not followed, and connections use exactly the address that was checked.</li>
        </ul>
      </SectionCard>
      <SectionCard title="URL check" description="The host is resolved and checked. Nothing is sent to it.">
        <div className="grid grid-cols-1 gap-5">
          <form action={PAGE} className="flex flex-wrap items-end gap-3">
            <div className="min-w-0 flex-1 basis-56">
              <Field
                name="url"
                label="URL"
                defaultValue={url}
                placeholder="https://hooks.example.com/in"
                isMono
                maxLength={2_000}
              />
            </div>
            <button type="submit" className={buttonClass({ variant: "primary" })}>
              Check
            </button>
          </form>
          {examined && <Verdict examined={examined} />}
        </div>
      </SectionCard>
    </PageColumn>
  );
}

function Verdict({ examined }: Readonly<{ examined: Examined }>) {
  if (examined.outcome === "refused") return <FormMessage tone="bad">Refused: {examined.reason}.</FormMessage>;
  const { host, port, isAllowed, addresses } = examined;
  return (
    <div className="grid grid-cols-1 gap-3">
      <FormMessage tone={isAllowed ? "good" : "bad"}>
        {isAllowed
          ? `Allowed on port ${port}.`
          : "Refused, because not all addresses of the host are allowed. To allow them, add their range to OUTBOUND_ALLOW_CIDRS and restart the service."}
      </FormMessage>
      <div className="rounded-control border border-line">
        <List label={`Addresses of ${host}`}>
          {addresses.map((each) => (
            <ListRow
              key={each.address}
              leading={
                each.isAllowed ? (
                  <CircleCheck className="size-5 text-good" aria-hidden="true" />
                ) : (
                  <CircleX className="size-5 text-bad" aria-hidden="true" />
                )
              }
              title={<code className="break-all">{each.address}</code>}
              meta={reasonOf(each)}
            />
          ))}
        </List>
      </div>
    </div>
  );
}

function reasonOf({ isAllowed, range }: { isAllowed: boolean; range: string | null }): string {
  if (isAllowed) return range ? `Allowed by ${range} of OUTBOUND_ALLOW_CIDRS` : "A public address";
  return range
    ? `Refused: it is in ${range}, which is not part of the public internet`
    : "Refused: it is not a public internet address";
}
