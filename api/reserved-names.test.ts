import { describe, expect, test } from "vitest";
import { parseHandle } from "#core/accounts/handles/parse-handle.ts";
import { api } from "./app.ts";

const segments = [...new Set(api.routes.map(({ path }) => path.split("/")[1] ?? ""))].filter((segment) => /^\w/.test(segment));

describe("S139 no user and no organization has the name of an address of the API", () => {
  test.each(segments)("/%s is reserved", (segment) => {
    expect(() => parseHandle(segment, "username")).toThrow(
      expect.objectContaining({ code: "invalid_request", field: "username" }),
    );
  });

  test("the routes are found", () => {
    expect(segments).toEqual(expect.arrayContaining(["api", "images", "avatars", "datasets", "spaces"]));
  });
});
