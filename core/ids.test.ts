import { expect, test } from "vitest";
import { firstIdAt, isId, newId, newOrderedId } from "./ids.ts";

test("IDs are 24 hex digits that begin with the time, and are unique", () => {
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

test("ordered IDs sort by time, and a time sorts before all IDs created from then on", () => {
  const times = [1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_999, 1_700_000_001_000, Date.now()];
  const ids = times.map((at) => newOrderedId(at));
  expect([...ids].sort()).toEqual(ids);
  for (const [index, id] of ids.entries()) {
    expect(isId(id)).toBe(true);
    expect(firstIdAt(new Date(times[index] ?? 0)) <= id).toBe(true);
    expect(firstIdAt(new Date((times[index] ?? 0) + 1)) > id).toBe(true);
  }
  expect(new Set(Array.from({ length: 2_000 }, () => newOrderedId(0))).size).toBe(2_000);
});

test("ordered IDs of one process sort by creation, even within a millisecond", () => {
  const ids = Array.from({ length: 5_000 }, () => newOrderedId());
  expect([...ids].sort()).toEqual(ids);
});

test("text in any other form is not an ID", () => {
  for (const text of ["", "x", newId().slice(1), newId().toUpperCase().replace(/\d/g, "A"), `${newId()}\n`, 1, null, undefined])
    expect(isId(text)).toBe(false);
});
