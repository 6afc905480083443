import { FileSearch, SearchX } from "lucide-react";
import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { listClientDocuments } from "#core/oauth/documents/hosts/list-client-documents.ts";
import { ButtonLink } from "../../_components/button.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { List } from "../../_components/list.tsx";
import { Pagination } from "../../_components/pagination.tsx";
import { SearchForm } from "../../_components/search-form.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { DocumentRow } from "./document-row.tsx";
import { HOSTS_PATH, type HostsQuery, hostsPath, SEEN } from "./hosts-path.ts";

const PAGE_SIZE = 20;

export async function DocumentsSection({ operator, query }: Readonly<{ operator: Person; query: HostsQuery }>) {
  const { search = "" } = query;
  const found = await listClientDocuments(operator, { search, page: query.page, pageSize: PAGE_SIZE });
  const { items, page, pageSize, total } = found;
  if (items.length === 0 && total > 0) redirect(hostsPath({ ...query, page: Math.ceil(total / pageSize) }));
  return (
    <div id={SEEN} className="scroll-mt-5">
      <SectionCard title="Apps seen" description="The last to begin a sign-in first." isFlush>
        {(total > 0 || search) && (
          <div className="border-line border-b px-4 py-4 sm:px-5">
            <SearchForm action={`${HOSTS_PATH}#${SEEN}`} label="Host, address or name" value={search} />
          </div>
        )}
        {total === 0 ? (
          <NoDocuments isSearched={search !== ""} />
        ) : (
          <List label="Apps seen">
            {items.map((document) => (
              <DocumentRow key={document.clientId} document={document} />
            ))}
          </List>
        )}
      </SectionCard>
      <Pagination
        label="apps seen"
        page={page}
        pageSize={pageSize}
        total={total}
        hrefOf={(at) => `${hostsPath({ ...query, page: at })}#${SEEN}`}
      />
    </div>
  );
}

function NoDocuments({ isSearched }: Readonly<{ isSearched: boolean }>) {
  if (isSearched) {
    return (
      <EmptyState Icon={SearchX} title="No app is like that" action={<ButtonLink href={HOSTS_PATH}>Show all apps</ButtonLink>}>
        An app is found by any part of its address or its name.
      </EmptyState>
    );
  }
  return (
    <EmptyState Icon={FileSearch} title="None has come by yet">
      When somebody signs in to an app that only its own website describes, the app stands here.
    </EmptyState>
  );
}
