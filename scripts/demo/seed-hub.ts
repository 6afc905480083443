import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { repoApiPath, repoPath } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import { type Caller, callAs, callForWebhooks } from "./calls.ts";
import type { Notes } from "./describe-demo.ts";
import { commitsOn, pushCommits } from "./sample-commits.ts";
import { type SampleRepo, sampleCollection, sampleDiscussion, sampleLikes, sampleRepos } from "./sample-repos.ts";
import { sampleSpace, sampleWebhooks } from "./samples.ts";

const REPO_SCOPES = "read-repos write-repos manage-repos";
const HUB_SCOPES = `${REPO_SCOPES} write-discussions write-collections`;
const DOMAINS = ["repo", "discussion"];

/** Call before the repositories are created, so that the receiver gets their events. */
export async function seedWebhooks(notes: Notes, origin: string, receiverUrl: string): Promise<void> {
  for (const { key, by, name, api, path, watched } of sampleWebhooks) {
    // The key contains the URL, because another port is another receiver.
    const url = `${receiverUrl}${path}`;
    await notes.once("webhooks", `${key} ${url}`, async () => {
      const call = await callForWebhooks(by, origin);
      await call("POST", api, { name, url, watched, domains: DOMAINS, secret: notes.made.webhookSecret });
      return true;
    });
  }
}

/** Whether this machine can isolate Spaces. Without isolation, a Space would fail at its first event. */
export function runsSpaces(): boolean {
  const { JOBS_RUNNER } = env();
  if (JOBS_RUNNER !== "auto" && JOBS_RUNNER !== "bubblewrap") return JOBS_RUNNER === "docker";
  return spawnSync("bwrap", ["--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"]).status === 0;
}

/** Call before the other repositories are created, because the Space shows their events. */
export async function seedSpace(notes: Notes, origin: string): Promise<void> {
  const { owner, name, watched } = sampleSpace;
  const { spaceSecret: secret } = notes.made;
  const fullName = `${owner}/${name}`;
  await notes.once("repos", `space ${fullName}`, async () => {
    const call = await callAs(owner, origin, { name: "Post Box deployment", scopes: REPO_SCOPES });
    await call("POST", "/api/repos/create", { type: "space", name, sdk: "node", autoInit: false });
    await call("POST", `${repoApiPath("space", fullName)}/secrets`, { key: "WEBHOOK_SECRET", value: secret });
    const files = { "README.md": example("SPACE.md"), "app.js": example("app.js"), "package.json": '{ "type": "module" }\n' };
    const commits = commitsOn([0], { by: owner, titles: ["Add the first files"], files });
    await pushCommits({ url: origin + repoPath("space", fullName), token: call.token }, commits);
    await call("PUT", `${repoApiPath("space", fullName)}/settings`, { description: "Shows the latest webhook deliveries." });
    return true;
  });
  const url = `${origin}${repoPath("space", fullName)}/app/`;
  await notes.once("webhooks", `space ${url}`, async () => {
    const call = await callForWebhooks(owner, origin);
    await call("POST", "/api/settings/webhooks", { name: "Post Box", url, watched, domains: DOMAINS, secret });
    return true;
  });
}

const example = (file: string): string => readFileSync(new URL(`../../examples/webhook-space/${file}`, import.meta.url), "utf8");

export async function seedRepos(notes: Notes, origin: string): Promise<void> {
  const callers = new Map<string, Promise<Caller>>();
  const as = (username: string): Promise<Caller> => {
    const token = { name: username === "mara" ? "Forecast upload" : "Gauge sync", scopes: HUB_SCOPES };
    const caller = callers.get(username) ?? callAs(username, origin, token);
    callers.set(username, caller);
    return caller;
  };
  for (const repo of sampleRepos) {
    await notes.once("repos", `${repo.type} ${repo.owner}/${repo.name}`, async () =>
      makeRepo(await as(repo.maker), origin, repo),
    );
  }
  await notes.once("repos", "discussion", async () => {
    const { by, on, title, description } = sampleDiscussion;
    await (await as(by))("POST", `${repoApiPath("model", on)}/discussions`, { title, description });
    return true;
  });
  for (const { by, on } of sampleLikes) {
    await notes.once("repos", `${by} likes ${on}`, async () => {
      await (await as(by))("POST", `${repoApiPath("model", on)}/like`, {});
      return true;
    });
  }
  await notes.once("repos", "collection", async () => {
    const { by, title, description, items } = sampleCollection;
    const call = await as(by);
    const { slug } = await call<{ slug: string }>("POST", "/api/collections", { title, description, namespace: by });
    for (const item of items) await call("POST", `/api/collections/${slug}/items`, { item });
    return true;
  });
}

async function makeRepo(
  call: Caller,
  origin: string,
  { type, owner, name, isPrivate = false, sdk, settings, commits }: SampleRepo,
): Promise<true> {
  const fullName = `${owner}/${name}`;
  await call("POST", "/api/repos/create", {
    type,
    organization: owner,
    name,
    private: isPrivate,
    autoInit: false,
    ...(sdk && { sdk }),
  });
  await pushCommits({ url: origin + repoPath(type, fullName), token: call.token }, commits());
  await call("PUT", `${repoApiPath(type, fullName)}/settings`, settings);
  return true;
}
