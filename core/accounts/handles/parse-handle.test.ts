import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newId } from "../../ids.ts";
import { parseHandle } from "./parse-handle.ts";

const root = join(import.meta.dirname, "../../..");

function segmentsOf(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith("_") || entry.name.startsWith("[")) return [];
    if (/^\(.*\)$/.test(entry.name)) return segmentsOf(join(folder, entry.name));
    return entry.isDirectory() || folder === "public" ? [entry.name] : [];
  });
}

function pathsIn(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const source = files.map((name) => readFileSync(join(root, folder, name), "utf8")).join("\n");
  return [...source.matchAll(/["'`]\/([a-z][a-z0-9._-]+)(?=["'`/:?$])/g)].map((match) => match[1] as string);
}

describe("S139 reserved names", () => {
  test.each([...new Set([...segmentsOf("app"), ...segmentsOf("public"), ...pathsIn("server")])])(
    "include /%s, the first segment of our URLs",
    (segment) => {
      expect(() => parseHandle(segment, "username")).toThrow(
        expect.objectContaining({ code: "invalid_request", field: "username" }),
      );
      expect(() => parseHandle(segment.toUpperCase(), "username")).toThrow();
    },
  );

  test("are compared with a list that contains the URLs of pages and of the server", () => {
    expect(segmentsOf("app")).toEqual(expect.arrayContaining(["login", "settings"]));
    expect(pathsIn("server")).toEqual(expect.arrayContaining(["healthz", "readyz"]));
  });

  test.each([
    "admin",
    "Keyhook",
    "oauth",
    "settings",
    "organizations",
    "interaction",
    "device",
    "activate",
    "models",
    "datasets",
    "spaces",
  ])("include %s", (name) => {
    expect(() => parseHandle(name, "username")).toThrow("This name is reserved.");
  });

  test("include names that look like our IDs (S101)", () => {
    expect(() => parseHandle(newId(), "username")).toThrow("reserved");
    expect(() => parseHandle(newId().toUpperCase(), "username")).toThrow("reserved");
  });

  test.each(["repo.git", "feed.atom", "ada.json", "logo.png"])("include %s, whose ending has a meaning", (name) => {
    expect(() => parseHandle(name, "username")).toThrow("reserved");
  });
});

describe("parseHandle", () => {
  test.each(["ab", "Ada", "ada-lovelace", "a.b_c-d", "a1", "42", "x".repeat(39)])("accepts %s", (name) => {
    expect(parseHandle(name, "username")).toEqual({ spelled: name, canonical: name.toLowerCase() });
  });

  test("removes white space at both ends", () => {
    expect(parseHandle(" Ada\n", "username").spelled).toBe("Ada");
  });

  test.each([
    "",
    "a",
    "x".repeat(40),
    "x".repeat(100_000),
    "-ada",
    "ada-",
    ".ada",
    "ada.",
    "_ada",
    "ada..b",
    "ada--b",
    "ada.-b",
    "a b",
    "a/b",
    "a\\b",
    "a%2fb",
    "..",
    "аda",
    "ada\u200b",
    "ada\0",
    "ada\u202e",
    "\ud800a",
    "<b>",
    "a@b",
    "ada\nb",
  ])("refuses %j", (name) => {
    expect(() => parseHandle(name, "username")).toThrow(expect.objectContaining({ code: "invalid_request", field: "username" }));
  });

  test("refuses values that are not text", () => {
    for (const value of [undefined, null, 7, {}, ["ada"]]) expect(() => parseHandle(value, "name")).toThrow("text");
  });
});
