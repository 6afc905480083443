import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { type ListedHostRule, listHostRules } from "#core/oauth/documents/hosts/list-host-rules.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ChoiceRow } from "../../_components/choice-row.client.tsx";
import { classNames } from "../../_components/class-names.ts";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { Field } from "../../_components/field.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { Pagination } from "../../_components/pagination.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { addRuleAction, removeRuleAction } from "./actions.ts";
import { type HostsQuery, hostsPath, RULES } from "./hosts-path.ts";

const PAGE_SIZE = 10;

export async function RulesSection({ operator, query }: Readonly<{ operator: Person; query: HostsQuery }>) {
  const { items, page, pageSize, total } = await listHostRules(operator, { page: query.rules, pageSize: PAGE_SIZE });
  // The last rule of the last page was removed, or the address is made up.
  if (items.length === 0 && total > 0) redirect(hostsPath({ ...query, rules: Math.ceil(total / pageSize) }));
  return (
    <div id={RULES} className="scroll-mt-5">
      <SectionCard title="Rules" description="Each holds for a host and its subdomains; the closest one decides." isFlush>
        {items.length > 0 && (
          <List label="Rules">
            {items.map((rule) => (
              <RuleRow key={rule.host} rule={rule} />
            ))}
          </List>
        )}
        <div className={classNames("px-4 py-4 sm:px-5", items.length > 0 && "border-line border-t")}>
          {items.length === 0 && <p className="mb-4 text-muted">No rules yet: the choice above alone decides.</p>}
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
          trigger="Remove"
          title={
            <>
              Remove the rule for <bdi>{host}</bdi>?
            </>
          }
          confirm="Remove the rule"
          size="small"
        >
          <input type="hidden" name="host" value={host} />
          {rule === "allow"
            ? "Where only allowed hosts are taken, its apps are refused from then on."
            : "Where every host is taken, its apps may ask people again. What the block has ended does not come back."}
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}

function AddRule() {
  return (
    <ActionForm action={addRuleAction} label="Add a rule" className="grid max-w-reading gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          name="host"
          label="Host"
          hint="Such as example.com, or an address on it."
          isMono
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
        />
        <Field name="note" label="Note" hint="For other operators: why." isOptional maxLength={300} />
      </div>
      <fieldset className="grid gap-x-4 sm:grid-cols-2">
        <legend className="sr-only">Rule</legend>
        <ChoiceRow type="radio" name="rule" value="block" label="Block" hint="Next you see what that ends." defaultChecked />
        <ChoiceRow type="radio" name="rule" value="allow" label="Allow" />
      </fieldset>
      <div>
        <SubmitButton variant="secondary">Add rule</SubmitButton>
      </div>
    </ActionForm>
  );
}
