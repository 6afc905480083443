import { ArrowDown, ArrowUp } from "lucide-react";
import Link from "next/link";
import { type CollectionItem, ITEM_NOTE_MAX_CHARACTERS } from "#core/hub/collections/collection.ts";
import { ActionForm, SubmitButton } from "../../../../_components/action-form.client.tsx";
import { classNames } from "../../../../_components/class-names.ts";
import { UrlText } from "../../../../_components/copyable.tsx";
import { ConfirmDestructive } from "../../../../_components/details-form.client.tsx";
import { CancelButton, Disclosure } from "../../../../_components/disclosure.client.tsx";
import { Field, Select, TextArea } from "../../../../_components/fields.client.tsx";
import { List, ListRow, Pagination } from "../../../../_components/list.tsx";
import { SectionCard } from "../../../../_components/page-layout.tsx";
import { repoHref } from "../../../../_server/repo-page.ts";
import { addItemAction, removeItemAction, updateItemAction } from "../../../actions.ts";
import { RepoIcon, wordOfType } from "../../../collection-row.tsx";
import { ITEMS_ON_A_PAGE } from "../../../collections-path.ts";

type Props = Readonly<{
  items: CollectionItem[];
  slug: string;
  page: number;
  hrefOf: (page: number) => string;
}>;

export function ItemsSection({ items, slug, page, hrefOf }: Props) {
  const shown = items.slice((page - 1) * ITEMS_ON_A_PAGE, page * ITEMS_ON_A_PAGE);
  return (
    <SectionCard title="Repositories" isFlush>
      {items.length > 0 && (
        <List label="Repositories">
          {shown.map((item) => (
            <ItemRow key={item.id} item={item} slug={slug} isLast={item.position === items.length - 1} />
          ))}
        </List>
      )}
      <div className="px-4 pb-3 empty:hidden sm:px-5">
        <Pagination label="repositories" page={page} pageSize={ITEMS_ON_A_PAGE} total={items.length} hrefOf={hrefOf} />
      </div>
      <div className={classNames("px-4 py-4 sm:px-5", items.length > 0 && "border-line border-t")}>
        {items.length === 0 && <p className="mb-4 text-muted">No repositories yet. Add the first one by its name.</p>}
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
          <UrlText>{repo.fullName}</UrlText>
        </Link>
      }
      meta={wordOfType(repo.type)}
      trailing={
        <ActionForm action={updateItemAction} label={`Position of ${repo.fullName}`} className="flex gap-2">
          {hidden}
          {position > 0 ? (
            <SubmitButton variant="secondary" size="icon" name="position" value={String(position - 1)}>
              <ArrowUp className="size-4" aria-hidden="true" />
              <span className="sr-only">Move {repo.fullName} up</span>
            </SubmitButton>
          ) : (
            <NoArrow />
          )}
          {isLast ? (
            <NoArrow />
          ) : (
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
        <Disclosure
          look={{ size: "small" }}
          trigger={
            <>
              {note ? "Change note" : "Add note"}
              <span className="sr-only"> of {repo.fullName}</span>
            </>
          }
        >
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
              hint="A note for readers of the collection."
              maxLength={ITEM_NOTE_MAX_CHARACTERS}
              isOptional
            />
            <div className="flex gap-2">
              <SubmitButton size="small">Save note</SubmitButton>
              <CancelButton size="small" />
            </div>
          </ActionForm>
        </Disclosure>
        <ConfirmDestructive
          action={removeItemAction}
          trigger="Remove"
          title={
            <>
              Remove <bdi>{repo.fullName}</bdi>?
            </>
          }
          confirm="Remove it"
          size="small"
        >
          {hidden}
          The repository is removed from the collection, with its note, but is not deleted.
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}

function NoArrow() {
  return <span className="size-8" />;
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
          <Field name="repo" label="Repository" placeholder="owner/name" isMono />
        </div>
      </div>
      <TextArea name="note" label="Note" rows={2} maxLength={ITEM_NOTE_MAX_CHARACTERS} isOptional />
      <SubmitButton variant="secondary">Add repository</SubmitButton>
    </ActionForm>
  );
}
