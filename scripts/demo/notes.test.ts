import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readNotes } from "./notes.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "keyhook-notes-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("what was made is known to the next run, and readable by nobody else", () => {
  const first = readNotes(join(directory, "data"));
  first.made.apps["http://127.0.0.1:3001"] = { clientId: "id", clientSecret: "secret" };
  first.save();
  expect(readNotes(join(directory, "data")).made).toEqual(first.made);
  expect(statSync(join(directory, "data", "demo.json")).mode & 0o777).toBe(0o600);
});

test("each data directory has a password of its own, which outlives the database", () => {
  const notes = readNotes(directory);
  const { password } = notes.made;
  expect(password).not.toBe(readNotes(directory).made.password);
  notes.made.people.mara = true;
  notes.forget();
  expect(notes.made).toEqual({ password, people: {}, organizations: {}, members: {}, apps: {}, repos: {} });
});

test("notes that cannot be read are named, not overwritten", () => {
  writeFileSync(join(directory, "demo.json"), "{");
  expect(() => readNotes(directory)).toThrow(join(directory, "demo.json"));
});
