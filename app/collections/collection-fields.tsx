import {
  COLLECTION_DESCRIPTION_MAX_CHARACTERS,
  COLLECTION_TITLE_MAX_CHARACTERS,
  themes,
} from "#core/hub/collections/collection.ts";
import { ChoiceRow, Field, Select, TextArea } from "../_components/fields.client.tsx";

export function CollectionFields() {
  return (
    <>
      <Field name="title" label="Title" autoComplete="off" maxLength={COLLECTION_TITLE_MAX_CHARACTERS} />
      <TextArea
        name="description"
        label="Description"
        hint="One sentence about what the repositories have in common."
        rows={2}
        maxLength={COLLECTION_DESCRIPTION_MAX_CHARACTERS}
        isOptional
      />
      <Select
        name="theme"
        label="Color"
        defaultValue="blue"
        options={themes.map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) }))}
      />
      <fieldset className="grid gap-2">
        <legend className="mb-1.5 font-medium">Visibility</legend>
        <ChoiceRow
          type="radio"
          name="visibility"
          value="public"
          label="Everyone"
          hint="Private repositories in it are visible only to those who can read them."
          isBoxed
          defaultChecked
        />
        <ChoiceRow
          type="radio"
          name="visibility"
          value="private"
          label="Only the owner"
          hint="Or, if an organization is the owner, its members."
          isBoxed
        />
      </fieldset>
    </>
  );
}
