import { Fragment, type ReactNode, useId } from "react";

export type TabsProps = Readonly<{
  /** What is chosen among: "Example in". */
  label: string;
  tabs: ReadonlyArray<Readonly<{ label: string; content: ReactNode }>>;
}>;

/** Views of one thing, of which one is seen at a time. Radio buttons underneath, so it needs no JavaScript (globals.css). */
export function Tabs({ label, tabs }: TabsProps) {
  const id = useId();
  return (
    <fieldset className="tabs flex flex-wrap gap-x-4">
      <legend className="sr-only">{label}</legend>
      {tabs.map((tab, index) => (
        <Fragment key={tab.label}>
          <input type="radio" name={id} id={`${id}-${index}`} defaultChecked={index === 0} className="sr-only" />
          <label htmlFor={`${id}-${index}`}>{tab.label}</label>
          <div className="border-line border-t pt-3">{tab.content}</div>
        </Fragment>
      ))}
    </fieldset>
  );
}
