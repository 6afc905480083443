import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { boundedJson, DATA_MAX_BYTES } from "./bounded-json.ts";
import { changesOf } from "./changes.ts";

const hashOf = (text: string) => `#${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
function bounded(data: object) {
  const json = boundedJson(data);
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(DATA_MAX_BYTES);
  return JSON.parse(json);
}

describe("S144 S116 an entry that is too large", () => {
  const evil = "https://evil.example/steal";

  test("shows an added or removed redirect URI in full, even among long decoys", () => {
    const decoys = Array.from({ length: 20 }, (_, at) => `https://good.example/cb?${at}${"x".repeat(400)}`);
    const [before, after] = [{ redirectUris: ["https://good.example/cb"] }, { redirectUris: [...decoys, evil] }];
    expect(bounded(changesOf(before, after, ["redirectUris"])).redirectUris.added).toContain(evil);
    expect(bounded(changesOf(after, before, ["redirectUris"])).redirectUris.removed).toContain(evil);
  });

  test("identifies each redirect URI, even if the app has the maximum number of long ones", () => {
    const field = (name: string, round: number) => ({
      [name]: Array.from({ length: 50 }, (_, at) => `https://app.example/${round}/${at}/${'"'.repeat(1_900)}`),
    });
    const fields = ["redirectUris", "postLogoutRedirectUris"];
    const one = bounded(changesOf(field("redirectUris", 1), field("redirectUris", 2), fields)).redirectUris;
    expect(one.added[49]).toBe(
      `https://app.example/${hashOf(field("redirectUris", 2).redirectUris?.[49] ?? "")}`.replace("#", "…#"),
    );
    const both = (round: number) => ({ ...field("redirectUris", round), ...field("postLogoutRedirectUris", round) });
    const kept = bounded(changesOf(both(1), both(2), fields));
    for (const [round, side] of [
      [1, "removed"],
      [2, "added"],
    ] as const) {
      const hashes = field("x", round).x?.map(hashOf) ?? [];
      for (const name of fields) expect(kept[name][side].map((text: string) => text.slice(-13))).toEqual(hashes);
    }
  });

  test("keeps IDs and names at its top level and shortens names of fields", () => {
    const labels = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${at} `.padEnd(60, "k"), "v"]));
    const entry = bounded({ runId: "a run", labels });
    expect(entry).toMatchObject({ runId: "a run", cutFromBytes: expect.any(Number) });
    expect(Object.keys(entry.labels)).toHaveLength(100);
    expect(Object.keys(entry.labels)[99]).toContain(hashOf("99 ".padEnd(60, "k")));
    const many = Array.from({ length: 10_000 }, (_, at) => `item ${at}`);
    const name = "n".repeat(150);
    expect(bounded({ name, many, deep: { many, more: { many } } })).toMatchObject({
      name,
      many: expect.arrayContaining(["item 0"]),
    });
    expect(bounded({ name, all: Array.from({ length: 5 }, () => ({ many, ...labels })) })).toMatchObject({ name });
  });
});
