import { expect, test } from "vitest";
import { Folders } from "./folders.ts";

test("a folder is new once, and again after a file has replaced it", () => {
  const folders = new Folders();
  expect(folders.add("a/b/c")).toEqual(["a/b", "a"]);
  expect(folders.add("a/b/d")).toEqual([]);
  expect(folders.add("a/e/f")).toEqual(["a/e"]);
  expect(folders.add("file")).toEqual([]);
  folders.replace("a/b/c");
  expect(folders.add("a/b/d")).toEqual([]);
  folders.replace("a");
  expect(folders.add("a/b/d")).toEqual(["a/b", "a"]);
});

test("S137 a commit of the maximum number of files can have two folders for each file", () => {
  const many = new Folders();
  for (let index = 0; index < 25_000; index++) many.add(`samples-${index}/images/picture.png`);
  const refused = expect.objectContaining({
    code: "payload_too_large",
    message: expect.stringContaining("Send fewer files at once"),
  });
  const deep = (index: number) => `${index}/${"x/".repeat(198)}y`;
  const long = (index: number) => `${index}/${"x".repeat(200)}/${"y".repeat(200)}/${"z".repeat(200)}`;
  for (const [name, most] of [
    [deep, 300],
    [long, 25_000],
  ] as const) {
    const folders = new Folders();
    expect(() => {
      for (let index = 0; index < most; index++) folders.add(name(index));
    }).toThrow(refused);
  }
  const replaced = new Folders();
  expect(() => {
    for (let index = 0; index < 300; index++) {
      replaced.add(deep(0));
      replaced.replace("0");
    }
  }).toThrow(refused);
});
