import { Library } from "lucide-react";
import type { Theme } from "#core/hub/collections/collection.ts";
import { classNames } from "../_components/class-names.ts";

const grounds: Record<Theme, string> = {
  orange: "bg-tile-5",
  blue: "bg-tile-4",
  green: "bg-tile-2",
  purple: "bg-tile-8",
  pink: "bg-tile-7",
  indigo: "bg-tile-6",
};

/** A collection's sign, in its colour. */
export function ThemeTile({ theme }: Readonly<{ theme: Theme }>) {
  return (
    <span className={classNames("grid size-9 shrink-0 place-items-center rounded-control text-white", grounds[theme])}>
      <Library className="size-4.5" aria-hidden="true" />
    </span>
  );
}
