import { describe, expect, test } from "vitest";
import { lfsPointerTo, parseLfsPointer } from "./parse-lfs-pointer.ts";

const oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
const version = "version https://git-lfs.github.com/spec/v1\n";

describe("a pointer", () => {
  test.each([
    ["as git-lfs writes it", `${version}oid sha256:${oid}\nsize 12345\n`],
    ["without the last line feed", `${version}oid sha256:${oid}\nsize 12345`],
    ["with an extension", `${version}ext-0-foo sha256:${oid}\noid sha256:${oid}\nsize 12345\n`],
    ["of an old version", `version https://hawser.github.com/spec/v1\noid sha256:${oid}\nsize 12345\n`],
  ])("is read: %s", (_, text) => {
    expect(parseLfsPointer(text)).toEqual({ oid, size: 12345 });
    expect(parseLfsPointer(Buffer.from(text))).toEqual({ oid, size: 12345 });
  });

  test("is written as it is read", () => {
    expect(parseLfsPointer(lfsPointerTo({ oid, size: 7 }))).toEqual({ oid, size: 7 });
  });

  test.each([
    ["nothing", ""],
    ["a text", "version of a text\n"],
    ["another version", `version https://example.test/spec/v9\noid sha256:${oid}\nsize 1\n`],
    ["another hash", `${version}oid md5:${oid}\nsize 1\n`],
    ["a short hash", `${version}oid sha256:${oid.slice(1)}\nsize 1\n`],
    ["a hash in capitals", `${version}oid sha256:${oid.toUpperCase()}\nsize 1\n`],
    ["no size", `${version}oid sha256:${oid}\n`],
    ["a negative size", `${version}oid sha256:${oid}\nsize -1\n`],
    ["a size that is too large", `${version}oid sha256:${oid}\nsize 99999999999999999999\n`],
    ["keys out of order", `${version}size 1\noid sha256:${oid}\n`],
    ["a key twice", `${version}oid sha256:${oid}\noid sha256:${oid}\nsize 1\n`],
    ["version not first", `oid sha256:${oid}\nsize 1\n${version}`],
    ["text after it", `${version}oid sha256:${oid}\nsize 1\n\nand more\n`],
    ["carriage returns", `${version}oid sha256:${oid}\nsize 1\n`.replaceAll("\n", "\r\n")],
    ["a file that is larger than pointers are", `${version}oid sha256:${oid}\nsize 1\n${"x-y z\n".repeat(200)}`],
  ])("is not recognized: %s", (_, text) => {
    expect(parseLfsPointer(text)).toBeUndefined();
  });
});
