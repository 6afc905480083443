import { ArrowDown, ArrowUp } from "lucide-react";
import Link from "next/link";
import { type CollectionItem, ITEM_NOTE_MAX_CHARACTERS } from "#core/hub/collections/collection.ts";
import { ActionForm } from "../../../../_components/action-form.client.tsx";
import { buttonClass } from "../../../../_components/button.tsx";
import { classNames } from "../../../../_components/class-names.ts";
import { ConfirmDestructive } from "../../../../_components/confirm-destructive.client.tsx";
import { Field } from "../../../../_components/field.client.tsx";
import { List, ListRow } from "../../../../_components/list.tsx";
import { SectionCard } from "../../../../_components/section-card.tsx";
import { Select } from "../../../../_components/select.client.tsx";
import { SubmitButton } from "../../../../_components/submit-button.client.tsx";
import { TextArea } from "../../../../_components/text-area.client.tsx";
import { repoHref } from "../../../../_server/repo-page.ts";
import { addItemAction, removeItemAction, updateItemAction } from "../../../actions.ts";
import { RepoIcon, wordOfType } from "../../../repo-icon.tsx";

type Props = Readonly<{ items: CollectionItem[]; slug: string }>;

/** What is in the collection, in order: each is moved a place at a time by buttons, or taken out. */
export function ItemsSection({ items, slug }: Props) {
  return (
    <SectionCard title="Repositories" isFlush>
      {items.length > 0 && (
        <List label="Repositories">
          {items.map((item) => (
            <ItemRow key={item.id} item={item} slug={slug} isLast={item.position === items.length - 1} />
          ))}
        </List>
      )}
      <div className={classNames("px-4 py-4 sm:px-5", items.length > 0 && "border-line border-t")}>
        {items.length === 0 && <p className="mb-4 text-muted">Nothing in it yet. Add the first repository by its name.</p>}
        <AddItem slug={slug} key={items.length} />
      </div>
    </SectionCard>
  );
}

function ItemRow({ item, slug, isLast }: Readonly<{ item: CollectionItem; slug: string; isLast: boolean }>) {
  const { id, repo, note, position } = item;
  const hidden = (
    <>
      <input type="hidden" name="slug" value={slug} />
      <input type="hidden" name="item" value={id} />
    </>
  );
  return (
    <ListRow
      leading={<RepoIcon type={repo.type} />}
      title={
        <Link prefetch={false} href={repoHref(repo)} className="link wrap-anywhere min-w-0">
          {repo.fullName}
        </Link>
      }
      meta={wordOfType(repo.type)}
      trailing={
        <ActionForm action={updateItemAction} label={`Place of ${repo.fullName}`} className="flex gap-2">
          {hidden}
          {position > 0 && (
            <SubmitButton variant="secondary" size="icon" name="position" value={String(position - 1)}>
              <ArrowUp className="size-4" aria-hidden="true" />
              <span className="sr-only">Move {repo.fullName} up</span>
            </SubmitButton>
          )}
          {!isLast && (
            <SubmitButton variant="secondary" size="icon" name="position" value={String(position + 1)}>
              <ArrowDown className="size-4" aria-hidden="true" />
              <span className="sr-only">Move {repo.fullName} down</span>
            </SubmitButton>
          )}
        </ActionForm>
      }
    >
      {note && <p className="mt-2 whitespace-pre-line break-words border-line border-l-2 pl-3 text-small">{note}</p>}
      <div className="mt-3 flex flex-wrap items-start gap-2">
        <details className="group">
          <summary className={buttonClass({ size: "small" })}>
            {note ? "Change note" : "Add note"}
            <span className="sr-only"> of {repo.fullName}</span>
          </summary>
          <ActionForm
            key={note}
            action={updateItemAction}
            values={{ note: note ?? "" }}
            className="mt-3 grid w-full max-w-reading gap-3"
          >
            {hidden}
            <TextArea
              name="note"
              label="Note"
              hint="What is good to know of it here."
              maxLength={ITEM_NOTE_MAX_CHARACTERS}
              isOptional
            />
            <div>
              <SubmitButton variant="secondary" size="small">
                Save note
              </SubmitButton>
            </div>
          </ActionForm>
        </details>
        <ConfirmDestructive
          action={removeItemAction}
          trigger="Remove"
          title={
            <>
              Take <bdi>{repo.fullName}</bdi> out?
            </>
          }
          confirm="Take it out"
          size="small"
        >
          {hidden}
          It leaves the collection with its note. The repository stays where it is.
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}

function AddItem({ slug }: Readonly<{ slug: string }>) {
  return (
    <ActionForm action={addItemAction} values={{ type: "model" }} label="Add a repository" className="grid max-w-reading gap-4">
      <input type="hidden" name="slug" value={slug} />
      <div className="grid gap-4 sm:grid-cols-3">
        <Select
          name="type"
          label="Type"
          options={[
            { value: "model", label: "Model" },
            { value: "dataset", label: "Dataset" },
            { value: "space", label: "Space" },
          ]}
        />
        <div className="sm:col-span-2">
          <Field
            name="repo"
            label="Repository"
            placeholder="owner/name"
            isMono
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
          />
        </div>
      </div>
      <TextArea name="note" label="Note" rows={2} maxLength={ITEM_NOTE_MAX_CHARACTERS} isOptional />
      <div>
        <SubmitButton variant="secondary">Add repository</SubmitButton>
      </div>
    </ActionForm>
  );
}
