"use client";

import { Building2, type LucideIcon, User, X } from "lucide-react";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { useFormState } from "../action-form.client.tsx";
import { buttonClass } from "../button-class.ts";
import { classNames } from "../class-names.ts";
import { controlClass, describedBy, FieldFrame } from "../field-frame.tsx";
import { repoTypeLooks } from "../repos/repo-types.ts";
import { useSearch } from "../use-search.client.ts";

type Watchable = Readonly<{
  /** `type:name` */
  item: string;
  fullName?: string;
}>;

type WatchedFieldProps = Readonly<{
  /** `type:name` */
  watched: readonly string[];
  /** Responds to `?search=` with `{items: Watchable[]}`. */
  searchPath: string;
}>;

const ITEM = /^(user|org|model|dataset|space):\S+$/;
const NAME = "watched";

/** Without JavaScript, the text field takes items as `type:name`, separated by spaces. */
export function WatchedField({ watched, searchPath }: WatchedFieldProps) {
  const id = useId();
  const { values, errors } = useFormState();
  const kept = values[NAME];
  const first = kept === undefined ? watched : splitItems(typeof kept === "string" ? [kept] : kept);
  const [chosen, setChosen] = useState(first.filter((item) => ITEM.test(item)));
  const [typed, setTyped] = useState(first.filter((item) => !ITEM.test(item)).join(" "));
  const [active, setActive] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const found = useSearch<Watchable>(searchPath, isOpen ? typed : "").items.filter(({ item }) => !chosen.includes(item));
  const isShown = isOpen && found.length > 0;
  const error = errors[NAME];
  const hint = (
    <>
      Search for a person, an organization or a repository, or enter it in full, such as <code>user:ada</code>,{" "}
      <code>org:tidepool</code> or <code>dataset:ada/tides</code>. Watching a person or organization covers all their
      repositories.
    </>
  );

  const choose = (item: string) => {
    setChosen((before) => (before.includes(item) ? before : [...before, item]));
    setTyped("");
    setActive(-1);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape" && isShown) {
      event.preventDefault();
      setOpen(false);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length > 0) {
      event.preventDefault();
      setOpen(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive((at) => (at === -1 && step === -1 ? found.length - 1 : (at + step + found.length) % found.length));
    } else if (event.key === "Enter" && typed.trim() !== "") {
      // Enter chooses an item and must not submit the form.
      event.preventDefault();
      const picked = isShown ? found[Math.max(0, active)]?.item : undefined;
      if (ITEM.test(typed.trim()) && active === -1) choose(typed.trim());
      else if (picked) choose(picked);
    } else if ((event.key === "," || event.key === " ") && ITEM.test(typed.trim())) {
      event.preventDefault();
      choose(typed.trim());
    } else if (event.key === "Backspace" && typed === "") {
      setChosen((before) => before.slice(0, -1));
    }
  };

  return (
    <FieldFrame id={id} label="Watched" hint={hint} error={error}>
      {chosen.length > 0 && (
        <ul aria-label="Selected" className="flex flex-wrap gap-2">
          {chosen.map((item) => (
            <ChosenItem key={item} item={item} onRemove={() => setChosen((before) => before.filter((each) => each !== item))} />
          ))}
        </ul>
      )}
      <div className="relative">
        <input
          ref={input}
          id={id}
          name={NAME}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setActive(-1);
            setOpen(true);
          }}
          onKeyDown={onKeyDown}
          onBlur={() => setOpen(false)}
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isShown}
          aria-controls={`${id}-found`}
          aria-activedescendant={isShown && active >= 0 ? `${id}-${active}` : undefined}
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy(id, { hint, error })}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder={chosen.length > 0 ? "Add another" : "Search, or type:name"}
          className={classNames(controlClass, "h-10")}
        />
        <div
          id={`${id}-found`}
          role="listbox"
          aria-label="Found"
          className={classNames(
            "absolute inset-x-0 top-full z-20 mt-1 max-h-72 overflow-y-auto rounded-control border border-line bg-surface py-1 shadow-menu",
            !isShown && "hidden",
          )}
        >
          {found.map(({ item, fullName }, index) => (
            <div
              key={item}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              // A `click` event would come too late, because the field loses the focus first, which closes the list.
              onMouseDown={(event) => {
                event.preventDefault();
                choose(item);
              }}
              className={classNames(
                "flex cursor-pointer items-center gap-2.5 px-3 py-2 text-small hover:bg-sunken",
                index === active && "bg-sunken",
              )}
            >
              <ItemName item={item} />
              {fullName && <span className="truncate text-muted">{fullName}</span>}
            </div>
          ))}
        </div>
      </div>
      <span role="status" className="sr-only">
        {isOpen && typed !== "" ? `${found.length} found` : ""}
      </span>
    </FieldFrame>
  );
}

function ChosenItem({ item, onRemove }: Readonly<{ item: string; onRemove: () => void }>) {
  return (
    <li>
      <span className="flex min-h-8 items-center gap-2 rounded-control border border-line bg-sunken py-1 pr-1 pl-2.5 text-small noscript:pr-2.5">
        {/* Without JavaScript, unticking the box removes the item. */}
        <input
          type="checkbox"
          name={NAME}
          value={item}
          defaultChecked
          aria-label={`Keep ${item}`}
          className="not-noscript:hidden size-4 shrink-0"
        />
        <ItemName item={item} />
        <button
          type="button"
          onClick={onRemove}
          aria-label={`Remove ${item}`}
          title={`Remove ${item}`}
          className={buttonClass({ variant: "quiet", size: "icon" }, "size-6 noscript:hidden")}
        >
          <X className="size-3.5" aria-hidden="true" />
        </button>
      </span>
    </li>
  );
}

const looks: Readonly<Record<string, Readonly<{ Icon: LucideIcon; word: string }>>> = {
  user: { Icon: User, word: "user" },
  org: { Icon: Building2, word: "organization" },
  ...repoTypeLooks,
};

export function ItemName({ item }: Readonly<{ item: string }>) {
  const at = item.indexOf(":");
  const [type, name] = [item.slice(0, at), item.slice(at + 1)];
  const look = Object.hasOwn(looks, type) ? looks[type] : undefined;
  if (!look) return <span className="break-all">{item}</span>;
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5">
      <look.Icon className="size-3.5 shrink-0 text-muted" aria-hidden="true" />
      <span className="sr-only">{look.word} </span>
      <span className="min-w-0 break-all">{name}</span>
    </span>
  );
}

function splitItems(values: readonly string[]): string[] {
  return [...new Set(values.flatMap((value) => value.split(/[\s,]+/)).filter(Boolean))];
}
