import { Search } from "lucide-react";
import type { ReactNode } from "react";
import { buttonClass } from "./button.tsx";
import { Field, Select, type SelectProps } from "./fields.client.tsx";

type SearchFormProps = Readonly<{
  action: string;
  label: string;
  value: string;
  children?: ReactNode;
}>;

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
  any?: string;
  options: SelectProps["options"];
}>;

export function Filter({ name, label, value = "", any = "Any", options }: FilterProps) {
  return (
    <div className="min-w-44 max-sm:flex-1">
      <Select name={name} label={label} defaultValue={value} options={[{ value: "", label: any }, ...options]} />
    </div>
  );
}
