import { expect, test } from "vitest";
import { isId, newId } from "./ids.ts";

test("ids are 24 hex digits that begin with the time, and no two are alike", () => {
  const before = Math.floor(Date.now() / 1000);
  const ids = Array.from({ length: 2_000 }, newId); // several draws of random bytes
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ids.map((id) => id.slice(8))).size).toBe(ids.length);
  for (const id of ids) {
    expect(isId(id)).toBe(true);
    const seconds = Number.parseInt(id.slice(0, 8), 16);
    expect(seconds).toBeGreaterThanOrEqual(before);
    expect(seconds).toBeLessThanOrEqual(before + 5);
  }
});

test("nothing else is an id", () => {
  for (const text of ["", "x", newId().slice(1), newId().toUpperCase().replace(/\d/g, "A"), `${newId()}\n`, 1, null, undefined])
    expect(isId(text)).toBe(false);
});
