import type { ApiParameter } from "#core/api-document.ts";

type About = { description?: string; example?: unknown };

const ID = "5f9c1e2ab7d04c3e8f6a1b20";

const about: Record<string, About> = {
  owner: { description: "The handle of the owner, a user or an organization.", example: "ada" },
  name: { description: "The repository's name.", example: "tide-tables" },
  namespace: { description: "The handle of a user or an organization.", example: "ada" },
  slug: { description: "The collection's slug, with its ID at the end.", example: `river-data-${ID}` },
  rev: { description: "A branch, a tag or a commit, with slashes as `%2F`.", example: "main" },
  branch: { description: "The branch, with slashes as `%2F`.", example: "main" },
  tag: { description: "The tag, with slashes as `%2F`.", example: "v1.0" },
  path: { description: "The path in the repository. Slashes are not escaped.", example: "data/march.csv" },
  range: {
    description: "Two revisions. `base...head` compares the head with the merge base, `base..head` with the base.",
    example: "v1.0...main",
  },
  num: { description: "The number of the discussion or the pull request.", example: "12" },
  commentId: { description: "The comment's ID, 24 hex digits.", example: ID },
  itemId: { description: "The item's ID, 24 hex digits.", example: ID },
  id: { description: "24 hex digits.", example: ID },
  deliveryId: { description: "The delivery's ID, which is also its `webhook-id` header.", example: ID },
  logId: { description: "The delivery's ID.", example: ID },
  replayId: { description: "The replay's ID, 24 hex digits.", example: ID },
  jobId: { description: "The job's ID, 24 hex digits.", example: ID },
  tokenId: { description: "The token's ID, as the audit log shows it.", example: ID },
  type: { description: "The type of repository.", example: "models" },
  status: { description: "The state of the requests.", example: "pending" },
  recursive: { description: "Whether to list the content of subfolders.", example: true },
  include_prs: { description: "Whether to list the refs of pull requests.", example: true },
  create_pr: {
    description: "`1` opens a pull request with the commit. That requires only permission to open discussions.",
    example: "1",
  },
  p: { description: "The page, from 0.", example: 0 },
  limit: { description: "The maximum number of results.", example: 50 },
  cursor: { description: "The position of the next page, from the previous response.", example: ID },
  search: { description: "Words to search for.", example: "tide" },
  author: { description: "The handle of the author.", example: "ada" },
  "expand[]": { description: "`formatted` adds the title and the message as HTML.", example: "formatted" },
  state: { description: "Only deliveries in this state.", example: "failed" },
  scope: { description: "Only deliveries of events with this scope.", example: "repo.content" },
  action: { description: "Only deliveries of events with this action.", example: "update" },
  repo: { description: "Only deliveries of events in this repository: `owner/name`, or its ID.", example: "ada/tide-tables" },
  text: { description: "Text to search for in the repository's name, the kind of event and IDs.", example: "tide" },
  since: { description: "Only deliveries created at this time or later.", example: "2026-11-01T00:00:00Z" },
  until: { description: "Only deliveries created before this time.", example: "2026-12-01T00:00:00Z" },
  outcome: { description: "Only deliveries whose latest attempt had this outcome.", example: "rejected" },
  attemptsBefore: { description: "`olderAttempts` of the previous response.", example: ID },
  tail: { description: "The position from which to continue, from an earlier response.", example: 100 },
  label: { example: "team=rivers" },
  stage: { example: "RUNNING" },
  item: { example: "models/ada/tide-tables" },
  q: { example: "tide" },
  expand: { description: "Whether to return more about each entry.", example: true },
  sort: { example: "lastModified" },
  filter: { example: "hydrology" },
  listener: { example: "laptop-1" },
  concurrency: { example: 4 },
  full: { example: "true" },
  factory: { example: "true" },
  blobs: { example: true },
  diff: { example: "1" },
};

const organization: About = { description: "The organization's handle.", example: "river-lab" };
const relay: About = { example: "laptop" };
const user: About = { description: "The user's handle.", example: "ada" };

export function describeParameter(parameter: ApiParameter, path: string): ApiParameter {
  const { description: said, ...schema } = parameter.schema ?? {};
  const known = aboutOf(parameter.name, path);
  const description = parameter.description ?? said ?? known.description ?? "";
  const example = parameter.example ?? schema.example ?? fittingExample(schema.enum, schema.default ?? known.example);
  return {
    name: parameter.name,
    in: parameter.in,
    ...((parameter.required || parameter.in === "path") && { required: true }),
    ...(description && { description }),
    schema,
    ...(example !== undefined && { example }),
  };
}

function aboutOf(name: string, path: string): About {
  if (name === "name" && path.startsWith("/api/organizations/")) return organization;
  if (name === "name" && path.startsWith("/api/users/")) return user;
  if (name === "name" && path.startsWith("/api/settings/relays/")) return relay;
  return about[name] ?? {};
}

function fittingExample(choices: unknown[] | undefined, example: unknown): unknown {
  if (!choices) return example;
  return choices.includes(example) ? example : choices[0];
}
