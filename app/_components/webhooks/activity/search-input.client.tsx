"use client";

import { type ComponentProps, useEffect, useRef } from "react";

/** A line whose text is the address's, unless somebody is typing in it: "Show all" empties it, and no answer takes a letter away. */
export function SearchInput({
  value,
  ...input
}: Omit<ComponentProps<"input">, "value" | "defaultValue"> & Readonly<{ value: string }>) {
  const line = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (line.current && document.activeElement !== line.current) line.current.value = value;
  }, [value]);
  return <input ref={line} type="search" defaultValue={value} {...input} />;
}
