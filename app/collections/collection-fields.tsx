import {
  COLLECTION_DESCRIPTION_MAX_CHARACTERS,
  COLLECTION_TITLE_MAX_CHARACTERS,
  themes,
} from "#core/hub/collections/collection.ts";
import { ChoiceRow } from "../_components/choice-row.client.tsx";
import { Field } from "../_components/field.client.tsx";
import { Select } from "../_components/select.client.tsx";
import { TextArea } from "../_components/text-area.client.tsx";

/** What a collection says of itself: the same when it is made and when it is changed. */
export function CollectionFields() {
  return (
    <>
      <Field name="title" label="Title" autoComplete="off" maxLength={COLLECTION_TITLE_MAX_CHARACTERS} />
      <TextArea
        name="description"
        label="Description"
        hint="In a sentence: what holds these together."
        rows={2}
        maxLength={COLLECTION_DESCRIPTION_MAX_CHARACTERS}
        isOptional
      />
      <Select
        name="theme"
        label="Colour"
        defaultValue="blue"
        options={themes.map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) }))}
      />
      <fieldset className="grid gap-2">
        <legend className="mb-1.5 font-medium">Who sees it</legend>
        <ChoiceRow
          type="radio"
          name="visibility"
          value="public"
          label="Everybody"
          hint="Private repositories in it are seen by those only who may read them."
          isBoxed
          defaultChecked
        />
        <ChoiceRow
          type="radio"
          name="visibility"
          value="private"
          label="Its owner"
          hint="Of an organization: its members."
          isBoxed
        />
      </fieldset>
    </>
  );
}
