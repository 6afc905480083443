import { randomBytes } from "node:crypto";
import { admin } from "./admin.ts";
import type { Demo } from "./demo.ts";
import type { Person } from "./sign-in-page.ts";

export type TestRepository = {
  /** Of its pages. */
  path: string;
  /** Commits files over the API, as a program does; null takes one away. @returns the commit */
  commit: (files: Record<string, string | null>, summary?: string) => Promise<string>;
  /** What is in a file of the branch now; undefined when it is not there. */
  read: (path: string, revision?: string) => Promise<string | undefined>;
};

/** A repository of a person's own, made over the API. */
export async function makeRepository(demo: Demo, { username }: Person, files: Record<string, string>): Promise<TestRepository> {
  const scopes = "manage-repos write-discussions";
  const { token } = await admin<{ token: string }>(demo, "token", "create", "--user", username, "--scopes", scopes);
  const name = `tide-${randomBytes(4).toString("hex")}`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const send = async (path: string, body: string) => {
    const response = await fetch(demo.origin + path, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  await send("/api/repos/create", JSON.stringify({ name, type: "model" }));
  const commit: TestRepository["commit"] = async (changes, summary = "Change files") => {
    const entries = Object.entries(changes);
    const body = {
      summary,
      files: entries.filter(([, content]) => content !== null).map(([path, content]) => ({ path, content })),
      deletedFiles: entries.filter(([, content]) => content === null).map(([path]) => ({ path })),
    };
    const { commitOid } = await send(`/api/models/${username}/${name}/commit/main`, JSON.stringify(body));
    return commitOid;
  };
  if (Object.keys(files).length > 0) await commit(files, "Add files");
  return {
    path: `/${username}/${name}`,
    commit,
    read: async (path, revision = "main") => {
      const at = `${demo.origin}/${username}/${name}/raw/${encodeURIComponent(revision)}/${path.split("/").map(encodeURIComponent).join("/")}`;
      const response = await fetch(at, { headers });
      return response.ok ? response.text() : undefined;
    },
  };
}
