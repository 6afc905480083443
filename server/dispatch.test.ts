import { expect, test } from "vitest";
import { bodyKindOf, isApi } from "./dispatch.ts";

test.each([
  "/ada/tide/info/refs",
  "/ada/tide.git/info/refs",
  "/datasets/ada/tide.git/git-upload-pack",
  "/spaces/ada/tide/git-receive-pack",
  "/models/ada/tide/git-receive-pack",
  "/ada/tide.git/info/lfs/objects/batch",
  "/ada/tide/resolve/main/a/b.bin",
  "/datasets/ada/tide/raw/main/README.md",
  "/api/models/ada/tide/commit/main",
  "/api/whoami-v2",
  "/images/x",
])("%s is for programs", (path) => {
  expect(isApi(path)).toBe(true);
});

test.each([
  "/ada/tide",
  "/ada/tide/blob/main/info/refs",
  "/ada/tide/tree/main/git-upload-pack",
  "/ada/tide/info/refs/more",
  "/ada/info/refs",
  "/datasets/ada/tide/info/lfs",
  "/ada/tide/discussions/1",
  "/settings/tokens",
  "/api/auth/session",
])("%s is a page", (path) => {
  expect(isApi(path)).toBe(false);
});

test.each([
  ["POST", "/ada/tide.git/git-receive-pack", "transfer"],
  ["PUT", "/ada/tide/info/lfs/objects/x", "transfer"],
  ["POST", "/api/models/ada/tide/commit/main", "transfer"],
  ["POST", "/xet/x/v1/shards", "transfer"],
  ["POST", "/spaces/ada/tide/app/git-receive-pack", "passed_on"],
  ["PUT", "/ada/tide.git/git-receive-pack", "whole"],
  ["POST", "/ada/tide/info/lfs/objects/batch", "whole"],
  ["POST", "/api/jobs/git-receive-pack", "whole"],
  ["POST", "/api/auth/git-receive-pack", "whole"],
  ["POST", "/oauth/x/git-receive-pack", "whole"],
  ["POST", "/relay/x/git-receive-pack", "whole"],
  ["POST", "/settings/profile", "whole"],
])("S137 the body of %s %s counts as %s", (method, path, kind) => {
  expect(bodyKindOf(method, path)).toBe(kind);
});
