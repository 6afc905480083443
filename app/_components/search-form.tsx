import { Search } from "lucide-react";
import type { ReactNode } from "react";
import { buttonClass } from "./button.tsx";
import { Field } from "./field.client.tsx";

export type SearchFormProps = Readonly<{
  /** The page that lists; the search is in its address, so that it can be kept and sent on. */
  action: string;
  /** What is searched: "Name, client ID or owner". */
  label: string;
  value: string;
  /** Further filters, such as a `Select`. */
  children?: ReactNode;
}>;

/** Looks in a list. The first page of what is found has no page number. */
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
