import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Notes } from "./describe-demo.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "keyhook-notes-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("the next run reads the notes about everything that was created, and other users cannot read them", () => {
  const first = new Notes(join(directory, "data"));
  first.made.apps["http://127.0.0.1:3001"] = { clientId: "id", clientSecret: "secret" };
  first.save();
  expect(new Notes(join(directory, "data")).made).toEqual(first.made);
  expect(statSync(join(directory, "data", "demo.json")).mode & 0o777).toBe(0o600);
});

test("each data directory has its own password, which is kept when the database is deleted", () => {
  const notes = new Notes(directory);
  const { password } = notes.made;
  expect(password).not.toBe(new Notes(directory).made.password);
  notes.made.people.mara = true;
  notes.forget();
  expect(notes.made).toMatchObject({ password, people: {}, organizations: {}, members: {}, apps: {}, repos: {}, webhooks: {} });
});

test("notes of an earlier version get the data that they lack", () => {
  writeFileSync(join(directory, "demo.json"), JSON.stringify({ password: "a password", people: { mara: true } }));
  expect(new Notes(directory).made).toMatchObject({ password: "a password", people: { mara: true }, repos: {} });
});

test("notes that cannot be read are named in the error and not overwritten", () => {
  writeFileSync(join(directory, "demo.json"), "{");
  expect(() => new Notes(directory)).toThrow(join(directory, "demo.json"));
});
