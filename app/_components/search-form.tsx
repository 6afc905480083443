import { Search } from "lucide-react";
import type { ReactNode } from "react";
import { buttonClass } from "./button.tsx";
import { Field, Select, type SelectProps } from "./fields.client.tsx";

type SearchFormProps = Readonly<{
  /** The page of the list. The search is in its URL, so that people can bookmark and share it. */
  action: string;
  /** What is searched: "Name, client ID or owner". */
  label: string;
  value: string;
  /** Further filters, such as a `Select`. */
  children?: ReactNode;
}>;

/** Searches a list. It leaves out the page number, so the result starts at its first page. */
export function SearchForm({ action, label, value, children }: SearchFormProps) {
  return (
    <search>
      <form action={action} className="flex flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1 basis-56">
          <Field
            name="search"
            type="search"
            label={label}
            defaultValue={value}
            required={false}
            autoComplete="off"
            maxLength={200}
          />
        </div>
        {children}
        <button type="submit" className={buttonClass({})}>
          <Search className="size-4" aria-hidden="true" />
          Search
        </button>
      </form>
    </search>
  );
}

type FilterProps = Readonly<{
  name: string;
  label: string;
  value: string | undefined;
  /** The first choice, which does not filter. */
  any?: string;
  options: SelectProps["options"];
}>;

/** A `Select` of a `SearchForm`. */
export function Filter({ name, label, value = "", any = "Any", options }: FilterProps) {
  return (
    <div className="min-w-44 max-sm:flex-1">
      <Select name={name} label={label} defaultValue={value} options={[{ value: "", label: any }, ...options]} />
    </div>
  );
}
