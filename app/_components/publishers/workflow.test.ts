import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { presetNames } from "#core/accounts/publishers/presets.ts";
import { resourceOf, workflowOf } from "./workflow.ts";

const origin = "https://keyhook.example.com";
const guide = readFileSync(new URL("../../../docs/guides/keyless-ci.md", import.meta.url), "utf8");

describe("the example pipeline", () => {
  test.each(presetNames)("for %s is the one in the guide", (preset) => {
    const workflow = workflowOf(preset, { repo: { type: "model", fullName: "ada/tide", defaultBranch: "main" } }, origin);
    expect(guide).toContain(workflow);
    expect(workflow).not.toMatch(/\t|undefined| $/m);
    if (preset !== "oidc") expect(JSON.stringify(parse(workflow))).toContain("\\n  -d resource=ada/tide \\\\\\n");
  });

  test("names a dataset as token exchange and git do, and names a user as the resource", () => {
    const dataset = { repo: { type: "dataset", fullName: "ada/tide", defaultBranch: "a;b" } } as const;
    expect(resourceOf(dataset)).toBe("datasets/ada/tide");
    expect(workflowOf("gitlab", dataset, "http://localhost:3000")).toContain(
      `      git push "http://job:$TOKEN@localhost:3000/datasets/ada/tide" HEAD:'a;b'`,
    );
    expect(workflowOf("oidc", { username: "ada" }, origin)).toContain("-d resource=ada ");
  });
});
