import { afterEach, describe, expect, it } from "vitest";
import { provideSettings } from "../env.ts";
import { allowImage, fullNameOf, parseImageReference, requireImage } from "./image-reference.ts";

const digest = `sha256:${"a".repeat(64)}`;
const nameOf = (text: string) => {
  const reference = parseImageReference(text);
  return reference && fullNameOf(reference).name;
};

describe("the full name of the image", () => {
  it.each([
    ["python", "docker.io/library/python:latest"],
    ["python:3.12-slim", "docker.io/library/python:3.12-slim"],
    ["acme/tool", "docker.io/acme/tool:latest"],
    ["index.docker.io/python", "docker.io/library/python:latest"],
    ["DOCKER.IO/library/python", "docker.io/library/python:latest"],
    ["ghcr.io/acme/team__a/tool.b--c:v1.0_x", "ghcr.io/acme/team__a/tool.b--c:v1.0_x"],
    ["localhost/x", "localhost/x:latest"],
    ["localhost:5000/x:1", "localhost:5000/x:1"],
    ["10.0.0.5:8443/x", "10.0.0.5:8443/x:latest"],
    ["[::1]:5000/x", "[::1]:5000/x:latest"],
    [`python@${digest}`, `docker.io/library/python@${digest}`],
    [`python:3.12@${digest}`, `docker.io/library/python@${digest}`],
    ["example.com", "docker.io/library/example.com:latest"],
    ["example.com:5000", "docker.io/library/example.com:5000"],
  ])("%s is %s", (text, name) => {
    expect(nameOf(text)).toBe(name);
  });

  it.each([
    "",
    " python",
    "Python",
    "python:",
    "python:-1",
    `python:${"a".repeat(129)}`,
    "python@sha256:abc",
    `python@md5:${"a".repeat(32)}`,
    `python@${digest}@${digest}`,
    "http://10.0.0.5/x",
    "//x",
    "a//b",
    "a/../b",
    "a/",
    "a___b",
    "user@example.com/x",
    "example.com/x?y",
    "example.com/x#y",
    "example.com/x%2fy",
    "example.com\\x/y",
    "exa\nmple.com/x",
    "exämple.com/x",
    "-example.com/x",
    `${"a".repeat(128)}/${"b".repeat(128)}`,
    "a/".repeat(249),
  ])("does not exist for the invalid reference %j", (text) => {
    expect(parseImageReference(text)).toBeUndefined();
  });
});

describe("the images that jobs may use", () => {
  afterEach(() => {
    provideSettings({ JOBS_REGISTRIES: "", JOBS_LOCAL_IMAGES: "", JOBS_RUNNER: "" });
  });

  it("come from curated registries and from registries that the operator lists", () => {
    const isAllowed = (image: string) => !("refusal" in allowImage(image));
    expect(["python", "debian:12", "gcr.io/distroless/base"].map(isAllowed)).toEqual([true, true, true]);
    const others = [
      "acme/tool",
      "gcr.io/distroless-evil/x",
      "ghcr.io/acme/x",
      "10.0.0.5:8443/x",
      "localhost:5000/x",
      "localhost/x",
      "[::1]/x",
    ];
    expect(others.filter(isAllowed)).toEqual([]);
    provideSettings({ JOBS_REGISTRIES: "ghcr.io/acme,10.0.0.5:8443,[::1]" });
    expect(["ghcr.io/acme/x", "10.0.0.5:8443/x", "[::1]/x"].map(isAllowed)).toEqual([true, true, true]);
    expect(["python", "ghcr.io/acmee/x", "10.0.0.5/x", "10.0.0.5:8444/x"].filter(isAllowed)).toEqual([]);
    provideSettings({ JOBS_REGISTRIES: "none", JOBS_LOCAL_IMAGES: "localhost/tools,base:1" });
    expect(["localhost/tools:7", "base:1"].map(isAllowed)).toEqual([true, true]);
    expect(["python", "base:2", "localhost/tools2", `base@${digest}`].filter(isAllowed)).toEqual([]);
  });

  it("are listed in the error for an image that is not allowed", () => {
    requireImage("10.0.0.5:8443/x");
    provideSettings({ JOBS_RUNNER: "docker" });
    const refusal =
      "Jobs cannot use the image 10.0.0.5:8443/x. Allowed: Docker Hub's official images, such as python:3.12; images";
    expect(() => requireImage("10.0.0.5:8443/x")).toThrow(refusal);
    expect(() => requireImage("Not an image")).toThrow("This is not the name of an image.");
    requireImage("python:3.12");
  });
});
