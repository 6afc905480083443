import { describe, expect, test } from "vitest";
import { contentTypeOf, isText } from "./content-type.ts";

describe("contentTypeOf", () => {
  test("S137 everything that a browser would run is served as text or as a download", () => {
    const text = "text/plain; charset=utf-8";
    for (const name of [
      "a.html",
      "a.HTM",
      "a.svg",
      "a.xhtml",
      "a.xml",
      "a.js",
      "a.mjs",
      "a.css",
      "a.json",
      "a.md",
      "a.pdf",
      "a",
      "a.ts",
      "a.hta",
      "a.shtml",
    ]) {
      expect(contentTypeOf(name, Buffer.from("<script>1</script>")), name).toEqual({ type: text, kind: "text" });
    }
    for (const name of ["a.html", "a.svg", "a.xhtml", "a.js", "a.json", "a.xml"]) {
      expect(["text", "other"], name).toContain(contentTypeOf(name).kind);
      expect([text, "application/octet-stream"], name).toContain(contentTypeOf(name).type);
    }
    const bytes = Buffer.from([0, 1, 2]);
    expect(contentTypeOf("a.svg", bytes)).toEqual({ type: "application/octet-stream", kind: "other" });
    expect(contentTypeOf("a.html", bytes)).toEqual({ type: "application/octet-stream", kind: "other" });
    expect(contentTypeOf("a.png", bytes)).toEqual({ type: "image/png", kind: "image" });
    expect(contentTypeOf("a.pdf", bytes)).toEqual({ type: "application/pdf", kind: "other" });
  });

  test("the beginning of a text is recognized as text, wherever it is cut", () => {
    for (let length = 7_990; length < 8_010; length++) {
      expect(isText(Buffer.from(`${"x".repeat(length)}🌊ü end of the text`)), String(length)).toBe(true);
    }
    expect(isText(Buffer.alloc(0))).toBe(true);
    expect(isText(Buffer.from([0x61, 0xff]))).toBe(false);
    expect(isText(Buffer.from("a\0b"))).toBe(false);
  });
});
