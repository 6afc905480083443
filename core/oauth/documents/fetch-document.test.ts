import { describe, expect, test } from "vitest";
import { FRESH_DEFAULT_SECONDS, freshSeconds } from "./fetch-document.ts";

const DAY = 24 * 60 * 60;

describe("S79 freshness of a document", () => {
  test.each<[Record<string, string>, number]>([
    [{}, FRESH_DEFAULT_SECONDS],
    [{ "cache-control": "public" }, FRESH_DEFAULT_SECONDS],
    [{ "cache-control": "max-age=600" }, 600],
    [{ "cache-control": "public, Max-Age=600, must-revalidate" }, 600],
    [{ "cache-control": 'max-age="600"' }, 600],
    [{ "cache-control": "max-age=600", age: "100" }, 500],
    [{ "cache-control": "max-age=600", age: "10000" }, 30],
    [{ "cache-control": "max-age=600", age: "soon" }, 600],
    [{ "cache-control": "max-age=0" }, 30],
    [{ "cache-control": "no-store" }, 30],
    [{ "cache-control": "max-age=600, no-cache" }, 30],
    [{ "cache-control": 'no-cache="set-cookie"' }, 30],
    [{ "cache-control": "max-age=9999999999" }, DAY],
    [{ "cache-control": "max-age=99999999999999999999" }, FRESH_DEFAULT_SECONDS],
    [{ "cache-control": "max-age=-1" }, FRESH_DEFAULT_SECONDS],
    [{ "cache-control": "x-max-age=7200" }, FRESH_DEFAULT_SECONDS],
    [{ "cache-control": "s-maxage=7200" }, FRESH_DEFAULT_SECONDS],
  ])("%j: %i seconds", (headers, seconds) => {
    expect(freshSeconds(headers)).toBe(seconds);
  });
});
