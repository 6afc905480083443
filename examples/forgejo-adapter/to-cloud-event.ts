export type ForgePayload = {
  action?: string;
  ref?: string;
  ref_type?: string;
  before?: string;
  after?: string;
  repository?: ForgeRepo;
  issue?: ForgeIssue;
  pull_request?: ForgePull;
  comment?: { id: number; body: string; user: ForgeUser; html_url: string };
};

export type ForgeRepo = {
  id: number;
  full_name: string;
  private: boolean;
  html_url: string;
  description?: string;
  default_branch?: string;
};
type ForgeUser = { id: number; login: string };
type ForgeIssue = {
  id: number;
  number: number;
  title: string;
  body: string;
  state: string;
  user: ForgeUser;
  html_url: string;
  url: string;
  pull_request?: { merged?: boolean } | null;
};
type ForgePull = ForgeIssue & { merged?: boolean; draft?: boolean; merge_commit_sha?: string | null; base: { ref: string } };

export type Translated = { type: string; data: Record<string, unknown> };

/** Returns undefined if the service has no such event. @param event the header X-Forgejo-Event or X-Gitea-Event */
export function toCloudEvent(event: string, payload: ForgePayload): Translated | undefined {
  const { action, repository, issue, pull_request: pull, comment } = payload;
  if (!repository) return undefined;
  const repo = { externalId: repository.id };
  const thread = pull ?? issue;
  switch (event) {
    // Forgejo sends a push for new branches and tags, and for removed tags, in addition to `create` or `delete`.
    case "push":
      return content(repo, { ref: payload.ref, oldSha: payload.before, newSha: payload.after });
    // For a removed branch, Forgejo sends only `delete`, which does not name the commit.
    case "delete":
      return payload.ref_type === "branch"
        ? content(repo, { ref: `refs/heads/${payload.ref}`, oldSha: null, newSha: null })
        : undefined;
    case "repository":
      if (action === "created") return { type: "repo.create", data: { repo: mirrored(repository, "externalId") } };
      return action === "deleted" ? { type: "repo.delete", data: { repo } } : undefined;
    case "issues":
    case "pull_request": {
      if (!thread) return undefined;
      const discussion = discussionOf(thread, pull);
      if (action === "opened") return { type: "discussion.create", data: { repo, discussion, comment: openingOf(thread) } };
      return { type: action === "deleted" ? "discussion.delete" : "discussion.update", data: { repo, discussion } };
    }
    case "issue_comment": {
      const verb = { created: "create", edited: "update", deleted: "delete" }[action ?? ""];
      if (!verb || !issue || !comment) return undefined;
      const { id, body, user, html_url: web } = comment;
      const translated = { id, author: personOf(user), content: body, url: { web } };
      return { type: `discussion.comment.${verb}`, data: { repo, discussion: discussionOf(issue), comment: translated } };
    }
    default:
      return undefined;
  }
}

/** The ID is `id` in a synchronization and `externalId` in an event. */
export function mirrored(repo: ForgeRepo, id: "id" | "externalId"): Record<string, unknown> {
  const { full_name: name, private: isPrivate, html_url: url, description, default_branch: defaultBranch } = repo;
  // The forge has no types of repositories, so every repository becomes a model.
  return {
    [id]: repo.id,
    type: "model",
    name,
    private: isPrivate,
    url,
    ...(description && { description }),
    ...(defaultBranch && { defaultBranch }),
  };
}

const content = (repo: object, updatedRef: object): Translated => ({
  type: "repo.content.update",
  data: { repo, updatedRefs: [updatedRef] },
});

/** A user with accounts on both sides has the same username. For users without an account here, the service derives an ID. */
const personOf = ({ id, login }: ForgeUser) => ({ id, name: login });

/** The first comment of a discussion is the text of the forge's issue or pull request. */
const openingOf = ({ id, body, user, html_url: web }: ForgeIssue) => ({
  id: `opening-${id}`,
  author: personOf(user),
  content: body,
  url: { web },
});

function discussionOf(issue: ForgeIssue, pull?: ForgePull) {
  const { number: num, title, state, user, html_url: web, url: api } = issue;
  const isPullRequest = pull !== undefined || Boolean(issue.pull_request);
  const isMerged = pull?.merged ?? issue.pull_request?.merged ?? false;
  const openStatus = pull?.draft ? "draft" : "open";
  const mergeCommitId = isMerged && pull?.merge_commit_sha;
  return {
    // On the forge, an issue and its pull request have different IDs and the same number.
    num,
    title,
    status: isMerged ? "merged" : state === "closed" ? "closed" : openStatus,
    isPullRequest,
    author: personOf(user),
    url: { web, api },
    ...(pull && { changes: { base: `refs/heads/${pull.base.ref}`, ...(mergeCommitId && { mergeCommitId }) } }),
  };
}
