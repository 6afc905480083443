import { FileSearch, SearchX } from "lucide-react";
import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { type ListedHostRule, listHostRules } from "#core/oauth/documents/hosts/host-rules.ts";
import { type ListedClientDocument, listClientDocuments } from "#core/oauth/documents/hosts/list-client-documents.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { countOfUsers } from "../../_components/applications/app-list-page.tsx";
import { AppLogo } from "../../_components/applications/app-logo.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { classNames } from "../../_components/class-names.ts";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { ChoiceRow, Field } from "../../_components/fields.client.tsx";
import { EmptyState, List, ListRow, PagedList, Pagination } from "../../_components/list.tsx";
import { SectionCard } from "../../_components/page-layout.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SearchForm } from "../../_components/search-form.tsx";
import { addRuleAction, removeRuleAction } from "../actions.ts";
import { blockHostPath, HOSTS_PATH, type HostsQuery, hostsPath, RULES, SEEN } from "../paths.ts";

const DOCUMENTS_PAGE_SIZE = 20;

export async function DocumentsSection({ operator, query }: Readonly<{ operator: Person; query: HostsQuery }>) {
  const { search = "" } = query;
  const found = await listClientDocuments(operator, { search, page: query.page, pageSize: DOCUMENTS_PAGE_SIZE });
  return (
    <div id={SEEN} className="scroll-mt-5">
      <PagedList
        section={{ title: "Apps seen", description: "Most recent sign-in first." }}
        top={
          (found.total > 0 || search) && (
            <div className="border-line border-b px-4 py-4 sm:px-5">
              <SearchForm action={`${HOSTS_PATH}#${SEEN}`} label="Host, URL or name" value={search} />
            </div>
          )
        }
        label="Apps seen"
        things="apps seen"
        list={found}
        hrefOf={(page) => `${hostsPath({ ...query, page })}#${SEEN}`}
        row={(document) => <DocumentRow key={document.clientId} document={document} />}
        empty={<NoDocuments isSearched={search !== ""} />}
      />
    </div>
  );
}

function NoDocuments({ isSearched }: Readonly<{ isSearched: boolean }>) {
  if (isSearched) {
    return (
      <EmptyState Icon={SearchX} title="No apps match" action={<ButtonLink href={HOSTS_PATH}>Show all apps</ButtonLink>}>
        Enter part of a URL or name.
      </EmptyState>
    );
  }
  return (
    <EmptyState Icon={FileSearch} title="No apps yet">
      Apps that describe themselves on their own website appear here after the first sign-in.
    </EmptyState>
  );
}

function DocumentRow({ document }: Readonly<{ document: ListedClientDocument }>) {
  const { clientId, host, hostname, name, firstSeenAt, lastSeenAt, changedAt, userCount, hostDecision } = document;
  const isBlocked = hostDecision.rule?.rule === "block";
  return (
    <ListRow
      leading={<AppLogo app={document} />}
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{host}</bdi>
          <HostState hostDecision={hostDecision} hostname={hostname} />
        </>
      }
      meta={
        <>
          <span className="block">
            calls itself <bdi className="wrap-anywhere text-ink">{name}</bdi> · {countOfUsers(userCount)}
          </span>
          first seen <RelativeTime at={firstSeenAt} /> · last seen <RelativeTime at={lastSeenAt} />
          {changedAt && (
            <>
              {" · changed "}
              <RelativeTime at={changedAt} />
            </>
          )}
          <code className="block wrap-anywhere">{clientId}</code>
        </>
      }
      trailing={
        !isBlocked && (
          <ButtonLink href={blockHostPath(hostname)} size="small" variant="danger">
            Block host<span className="sr-only"> {hostname}</span>
          </ButtonLink>
        )
      }
    />
  );
}

/** Names the deciding rule if the host has no rule of its own. */
function HostState({ hostDecision, hostname }: Pick<ListedClientDocument, "hostDecision" | "hostname">) {
  const { isAllowed, rule, policy } = hostDecision;
  const by = rule && rule.host !== hostname ? ` by the rule for ${rule.host}` : "";
  if (isAllowed) return rule ? <Chip tone="good">Allowed{by}</Chip> : null;
  if (policy === "off") return <Chip tone="warn">Refused: no hosts are allowed</Chip>;
  if (rule?.rule === "block") return <Chip tone="bad">Blocked{by}</Chip>;
  return <Chip tone="warn">Refused: not allowed</Chip>;
}

const RULES_PAGE_SIZE = 10;

export async function RulesSection({ operator, query }: Readonly<{ operator: Person; query: HostsQuery }>) {
  const { items, page, pageSize, total } = await listHostRules(operator, { page: query.rules, pageSize: RULES_PAGE_SIZE });
  if (items.length === 0 && total > 0) redirect(hostsPath({ ...query, rules: Math.ceil(total / pageSize) }));
  return (
    <div id={RULES} className="scroll-mt-5">
      <SectionCard
        title="Rules"
        description="Each rule applies to a host and its subdomains. The most specific rule decides."
        isFlush
      >
        {items.length > 0 && (
          <List label="Rules">
            {items.map((rule) => (
              <RuleRow key={rule.host} rule={rule} />
            ))}
          </List>
        )}
        <div className={classNames("px-4 py-4 sm:px-5", items.length > 0 && "border-line border-t")}>
          {items.length === 0 && <p className="mb-4 text-muted">No rules yet. Only the setting above applies.</p>}
          <AddRule />
        </div>
      </SectionCard>
      <Pagination
        label="rules"
        page={page}
        pageSize={pageSize}
        total={total}
        hrefOf={(rules) => `${hostsPath({ ...query, rules })}#${RULES}`}
      />
    </div>
  );
}

function RuleRow({ rule: { host, rule, note, createdBy, createdAt } }: Readonly<{ rule: ListedHostRule }>) {
  return (
    <ListRow
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{host}</bdi>
          <Chip tone={rule === "allow" ? "good" : "bad"}>{rule === "allow" ? "Allowed" : "Blocked"}</Chip>
        </>
      }
      meta={
        <>
          {note && <bdi className="wrap-anywhere block text-ink">{note}</bdi>}
          by {createdBy ?? "the operator's command"} <RelativeTime at={createdAt} />
        </>
      }
    >
      <div className="mt-3">
        <ConfirmDestructive
          action={removeRuleAction}
          trigger="Delete"
          title={
            <>
              Delete the rule for <bdi>{host}</bdi>?
            </>
          }
          confirm="Delete the rule"
          size="small"
        >
          <input type="hidden" name="host" value={host} />
          The rule for a parent domain then applies to this host or, if there is none, the setting above.
          {rule === "block" && " Revoked access is not restored."}
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}

function AddRule() {
  return (
    <ActionForm action={addRuleAction} label="Add a rule" className="grid max-w-reading gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field name="host" label="Host" hint="For example, example.com or a URL on it." isMono />
        <Field name="note" label="Note" hint="The reason, for other operators." isOptional maxLength={300} />
      </div>
      <fieldset className="grid gap-x-4 sm:grid-cols-2">
        <legend className="sr-only">Rule</legend>
        <ChoiceRow type="radio" name="rule" value="block" label="Block" hint="The next page shows the effects." defaultChecked />
        <ChoiceRow type="radio" name="rule" value="allow" label="Allow" />
      </fieldset>
      <SubmitButton variant="secondary">Add rule</SubmitButton>
    </ActionForm>
  );
}
