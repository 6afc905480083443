import { expect, test, vi } from "vitest";
import { ServiceError } from "#core/errors.ts";
import { SubmittedForm, withLineEnd } from "./submitted-form.ts";

function formOf(entries: ReadonlyArray<readonly [string, string | File]>): SubmittedForm {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return new SubmittedForm(data);
}

test("text is read without the spaces around it, and a password with its spaces", () => {
  const form = formOf([
    ["name", "  Ada "],
    ["password", "  two spaces  "],
  ]);
  expect(form.text("name")).toBe("Ada");
  expect(form.verbatim("password")).toBe("  two spaces  ");
});

test("missing fields read as empty, and as not ticked", () => {
  const form = formOf([]);
  expect([form.text("name"), form.optional("name"), form.all("scope"), form.isTicked("ok")]).toEqual(["", null, [], false]);
});

test("a file field without a chosen file has no file", async () => {
  expect(await formOf([["avatar", new File([], "")]]).file("avatar")).toBeUndefined();
  expect(await formOf([["avatar", "not a file"]]).file("avatar")).toBeUndefined();
  expect(await formOf([["avatar", new File(["abc"], "a.png")]]).file("avatar")).toEqual(new TextEncoder().encode("abc"));
});

test("a field of files has only the chosen files, without the empty file that stands for no choice", async () => {
  expect(await formOf([["files", new File([], "")]]).files("files")).toEqual([]);
  expect(await formOf([["files", new File([], "undefined")]]).files("files")).toEqual([]);
  expect(
    await formOf([
      ["files", new File([], "empty.txt")],
      ["files", new File(["a"], "undefined")],
    ]).files("files"),
  ).toEqual([
    { name: "empty.txt", content: new Uint8Array() },
    { name: "undefined", content: new TextEncoder().encode("a") },
  ]);
});

test("passwords, secrets, files and React's own fields are not sent back", () => {
  const form = formOf([
    ["$ACTION_ID_1", ""],
    ["username", "ada"],
    ["password", "hunter22"],
    ["currentPassword", "hunter22"],
    ["clientSecret", "s3cret"],
    ["avatar", new File(["abc"], "a.png")],
    ["scope", "openid"],
    ["scope", "email"],
  ]);
  expect(form.echo()).toEqual({ username: "ada", scope: ["openid", "email"] });
});

test("S138 the values to send back are read in one pass, however many names there are", () => {
  const form = formOf(Array.from({ length: 1_000 }, (_, at) => [`name${at}`, "a"]));
  const searches = vi.spyOn(FormData.prototype, "getAll");
  expect(Object.keys(form.echo())).toHaveLength(1_000);
  expect(searches).not.toHaveBeenCalled();
  searches.mockRestore();
});

test("S51 a NUL is refused, and the error names its field", () => {
  const form = formOf([
    ["username", "ada"],
    ["fullName", "A\0da"],
  ]);
  expect(() => form.requireStorableText()).toThrow(ServiceError);
  expect(() => form.requireStorableText()).toThrow(expect.objectContaining({ field: "fullName" }));
  expect(() => formOf([["fullName", "Ada"]]).requireStorableText()).not.toThrow();
});

test("S137 text gets the line ends of its file, whatever the browser sends", () => {
  expect(withLineEnd("a\r\nb\rc\nd", "\r\n")).toBe("a\r\nb\r\nc\r\nd");
  for (const lineEnd of ["\n", "$`", "x".repeat(1_000), 7, null, {}]) expect(withLineEnd("a\r\nb", lineEnd)).toBe("a\nb");
});
