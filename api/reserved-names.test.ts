import { describe, expect, test } from "vitest";
import { parseHandle } from "#core/accounts/handles/parse-handle.ts";
import { api } from "./app.ts";

const segments = [...new Set(api.routes.map(({ path }) => path.split("/")[1] ?? ""))].filter((segment) => /^\w/.test(segment));

describe("S139 no user or organization can have the first segment of an API URL as its name", () => {
  test.each(segments)("/%s is reserved", (segment) => {
    expect(() => parseHandle(segment, "username")).toThrow(
      expect.objectContaining({ code: "invalid_request", field: "username" }),
    );
  });

  test("the routes are found", () => {
    expect(segments).toEqual(expect.arrayContaining(["api", "images", "avatars", "datasets", "spaces"]));
  });
});
