import Link from "next/link";
import { Fragment, type ReactNode, useId } from "react";

type TabsProps = Readonly<{
  label: string;
  tabs: ReadonlyArray<Readonly<{ label: string; content: ReactNode }>>;
}>;

/** Tabs are radio buttons, which need no JavaScript. */
export function Tabs({ label, tabs }: TabsProps) {
  const id = useId();
  return (
    <fieldset className="tabs">
      <legend className="sr-only">{label}</legend>
      {tabs.map((tab, index) => (
        <Fragment key={tab.label}>
          <input type="radio" name={id} id={`${id}-${index}`} defaultChecked={index === 0} className="sr-only" />
          <label htmlFor={`${id}-${index}`}>{tab.label}</label>
          <div className="pt-2 sm:border-line sm:border-t sm:pt-3">{tab.content}</div>
        </Fragment>
      ))}
    </fieldset>
  );
}

type LinkTabsProps = Readonly<{
  label: string;
  /** The labels by the value of `tab` in the URL. A URL without `tab` shows the first part. */
  parts: Readonly<Record<string, string>>;
  path: string;
  current: string;
}>;

export function LinkTabs({ label, parts, path, current }: LinkTabsProps) {
  return (
    <nav aria-label={label} className="tab-list sm:border-line sm:border-b">
      {Object.entries(parts).map(([part, name], index) => (
        <Link
          key={part}
          prefetch={false}
          href={index === 0 ? path : `${path}?tab=${part}`}
          aria-current={part === current ? "page" : undefined}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}

export function currentPart(parts: Readonly<Record<string, string>>, named: string): string {
  return Object.hasOwn(parts, named) ? named : (Object.keys(parts)[0] ?? "");
}
