import { repoApiPath } from "@keyhook/sdk";
import { type Caller, callAs } from "./call-as.ts";
import type { Notes } from "./notes.ts";
import { type SampleRepo, sampleCollection, sampleDiscussion, sampleRepos } from "./sample-repos.ts";

/** Puts repositories of the sample people there, as their programs would: over the API, each with a token of its own. */
export async function seedRepos({ made, save }: Notes, origin: string): Promise<void> {
  // Of notes that were written before there were repositories.
  made.repos ??= {};
  const { repos } = made;
  const callers = new Map<string, Promise<Caller>>();
  const as = (username: string): Promise<Caller> => {
    const caller = callers.get(username) ?? callAs(username, origin, SCOPES);
    callers.set(username, caller);
    return caller;
  };
  const once = async (key: string, make: () => Promise<unknown>) => {
    if (repos[key]) return;
    await make();
    repos[key] = true;
    save();
  };
  for (const repo of sampleRepos) {
    await once(`${repo.type} ${repo.owner}/${repo.name}`, async () => makeRepo(await as(repo.maker), repo));
  }
  await once("discussion", async () => {
    const { by, on, title, description } = sampleDiscussion;
    await (await as(by))("POST", `${repoApiPath("model", on)}/discussions`, { title, description });
  });
  await once("collection", async () => {
    const { by, title, description, items } = sampleCollection;
    const call = await as(by);
    const { slug } = await call<{ slug: string }>("POST", "/api/collections", { title, description, namespace: by });
    for (const item of items) await call("POST", `/api/collections/${slug}/items`, { item });
  });
}

const SCOPES = "read-repos write-repos manage-repos write-discussions write-collections";

async function makeRepo(call: Caller, { type, owner, name, isPrivate = false, sdk, settings, files }: SampleRepo): Promise<void> {
  const path = repoApiPath(type, `${owner}/${name}`);
  await call("POST", "/api/repos/create", { type, organization: owner, name, private: isPrivate, ...(sdk && { sdk }) });
  const lines = [
    { key: "header", value: { summary: "Add the first files" } },
    ...Object.entries(files).map(([file, content]) => ({ key: "file", value: { path: file, content, encoding: "utf-8" } })),
  ];
  await call("POST", `${path}/commit/main`, lines.map((line) => JSON.stringify(line)).join("\n"), "application/x-ndjson");
  await call("PUT", `${path}/settings`, settings);
}
