import { afterAll, beforeAll, expect, test } from "vitest";
import { provideSettings } from "../env.ts";
import { openPlace } from "./place.ts";

beforeAll(() => provideSettings({ BACKUP_PASSWORD: "a password only for the tests of places" }));
afterAll(() => provideSettings({ BACKUP_PASSWORD: "" }));

test.each([
  ["rest:https://ada:secret@backup.example:8000/keyhook", "rest:https://ada:…@backup.example:8000/keyhook"],
  ["rest:https://ada:se:cr:et@backup.example/", "rest:https://ada:…@backup.example/"],
  ["rest:https://ada:se@cr:et@backup.example/", "rest:https://ada:…@backup.example/"],
  ["rest:https://backup.example:8000/ada@home", "rest:https://backup.example:8000/ada@home"],
])("the name of a place has no password: %s", (text, name) => {
  expect(openPlace(text).name).toBe(name);
});
