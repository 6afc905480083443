import type { Action } from "#core/access/rules.ts";

/**
 * The name of each operation in the document, and its action of core/access/rules.ts, from which its scopes follow. An `operationId`
 * becomes the name of a function in generated clients, so it never changes.
 *
 * `{T}` stands for `models`, `datasets` and `spaces`, and `Repo` in a name for the same; `{W}` for one's own webhooks and for an
 * organization's, where `Webhook` becomes `OrganizationWebhook`, and `{A}` likewise for apps. A route that names its own `operationId`
 * needs no line here.
 */
type Line = readonly [operationId: string, ...actions: Action[]];

const repo = "/api/{T}/{owner}/{name}";
const discussion = `${repo}/discussions/{num}`;
const comment = `${discussion}/comment/{commentId}`;
const space = "/api/{T}/{owner}/{name}";
const collection = "/api/collections/{namespace}/{slug}";
const job = "/api/jobs/{namespace}/{jobId}";
const scheduledJob = "/api/scheduled-jobs/{namespace}/{jobId}";
const gate = "/api/{type}/{owner}/{name}/user-access-request";
const relay = "/api/settings/relays/{name}";
const tokens = "/api/organizations/{name}/settings/tokens";

export const operations: Readonly<Record<string, Line>> = {
  "GET /api/openapi.json": ["getOpenApiDocument"],
  "GET /api/whoami-v2": ["whoami"],
  "GET /api/agent-harnesses": ["listAgentHarnesses"],

  "POST /api/repos/create": ["createRepository", "repo.create"],
  "POST /api/repos/move": ["moveRepository", "repo.manage"],
  "DELETE /api/repos/delete": ["deleteRepository", "repo.manage"],
  "GET /api/{T}": ["listRepos", "repo.read"],
  [`GET ${repo}`]: ["getRepo", "repo.read"],
  [`GET ${repo}/revision/{rev}`]: ["getRepoAtRevision", "repo.read"],
  [`PUT ${repo}/settings`]: ["updateRepoSettings", "repo.manage"],
  [`POST ${repo}/settings`]: ["postRepoSettings", "repo.manage"],
  [`GET ${repo}/auth-check`]: ["checkRepoReadAccess", "repo.read_content"],
  [`GET ${repo}/auth-check/write`]: ["checkRepoWriteAccess", "repo.write"],

  [`GET ${repo}/tree/{rev}/{path}`]: ["listRepoTree", "repo.read"],
  [`POST ${repo}/paths-info/{rev}`]: ["getRepoPathsInfo", "repo.read"],
  [`GET ${repo}/commits/{rev}/{path}`]: ["listRepoCommits", "repo.read"],
  [`GET ${repo}/refs`]: ["listRepoRefs", "repo.read"],
  [`GET ${repo}/compare/{range}`]: ["compareRepoRevisions", "repo.read_content"],
  "GET {T}/{owner}/{name}/resolve/{rev}/{path}": ["downloadRepoFile", "repo.read_content"],
  "GET {T}/{owner}/{name}/raw/{rev}/{path}": ["downloadRawRepoFile", "repo.read_content"],
  [`POST ${repo}/preupload/{rev}`]: ["planRepoUpload", "repo.write"],
  [`POST ${repo}/commit/{rev}`]: ["createRepoCommit", "repo.write"],
  [`POST ${repo}/branch/{branch}`]: ["createRepoBranch", "repo.write"],
  [`DELETE ${repo}/branch/{branch}`]: ["deleteRepoBranch", "repo.write"],
  [`POST ${repo}/super-squash/{branch}`]: ["squashRepoBranch", "repo.write"],
  [`POST ${repo}/tag/{rev}`]: ["createRepoTag", "repo.write"],
  [`DELETE ${repo}/tag/{tag}`]: ["deleteRepoTag", "repo.write"],
  "POST /api/validate-yaml": ["validateFrontMatter"],

  [`GET ${space}/runtime`]: ["getSpaceRuntime", "repo.read"],
  [`GET ${space}/host`]: ["getSpaceHost", "repo.read"],
  [`POST ${space}/restart`]: ["restartSpace", "repo.manage"],
  [`POST ${space}/pause`]: ["pauseSpace", "repo.manage"],
  [`POST ${space}/sleeptime`]: ["setSpaceSleepTime", "repo.manage"],
  [`GET ${space}/logs/run`]: ["followSpaceLogs", "repo.write"],
  [`GET ${space}/variables`]: ["listSpaceVariables", "repo.manage"],
  [`POST ${space}/variables`]: ["setSpaceVariable", "repo.manage"],
  [`DELETE ${space}/variables`]: ["deleteSpaceVariable", "repo.manage"],
  [`GET ${space}/secrets`]: ["listSpaceSecrets", "repo.manage"],
  [`POST ${space}/secrets`]: ["setSpaceSecret", "repo.manage"],
  [`DELETE ${space}/secrets`]: ["deleteSpaceSecret", "repo.manage"],

  [`GET ${gate}/{status}`]: ["listAccessRequests", "repo.manage"],
  [`POST ${gate}/handle`]: ["handleAccessRequest", "repo.manage"],
  [`POST ${gate}/grant`]: ["grantAccess", "repo.manage"],
  [`POST ${gate}/cancel`]: ["cancelAccessRequest", "access_request.withdraw"],

  [`GET ${repo}/discussions`]: ["listRepoDiscussions", "repo.read"],
  [`POST ${repo}/discussions`]: ["openRepoDiscussion", "discussion.write"],
  [`GET ${discussion}`]: ["getRepoDiscussion", "repo.read"],
  [`DELETE ${discussion}`]: ["deleteRepoDiscussion", "discussion.moderate"],
  [`DELETE ${discussion}/ref`]: ["deleteRepoPullRequestRef", "discussion.moderate"],
  [`POST ${discussion}/comment`]: ["createRepoComment", "discussion.write"],
  [`POST ${comment}/edit`]: ["editRepoComment", "discussion.edit_comment"],
  [`POST ${comment}/hide`]: ["hideRepoComment", "discussion.update"],
  [`DELETE ${comment}`]: ["deleteRepoComment", "discussion.update"],
  [`POST ${comment}/reaction`]: ["addRepoReaction", "discussion.write"],
  [`DELETE ${comment}/reaction`]: ["deleteRepoReaction", "discussion.write"],
  [`POST ${discussion}/title`]: ["renameRepoDiscussion", "discussion.update"],
  [`POST ${discussion}/status`]: ["setRepoDiscussionStatus", "discussion.update"],
  [`POST ${discussion}/merge`]: ["mergeRepoPullRequest", "discussion.merge"],
  [`POST ${discussion}/pin`]: ["pinRepoDiscussion", "discussion.moderate"],
  [`POST ${discussion}/lock`]: ["lockRepoDiscussion", "discussion.moderate"],

  "GET /api/collections": ["listCollections", "collection.read"],
  "POST /api/collections": ["createCollection", "collection.create"],
  [`GET ${collection}`]: ["getCollection", "collection.read"],
  [`PATCH ${collection}`]: ["updateCollection", "collection.write"],
  [`DELETE ${collection}`]: ["deleteCollection", "collection.write"],
  [`POST ${collection}/items`]: ["addCollectionItem", "collection.write"],
  [`PATCH ${collection}/items/{itemId}`]: ["updateCollectionItem", "collection.write"],
  [`DELETE ${collection}/items/{itemId}`]: ["deleteCollectionItem", "collection.write"],

  "GET /api/users/{name}/overview": ["getUserOverview"],
  "GET /api/users/{name}/avatar": ["getUserAvatar"],
  "GET /api/organizations/{name}/overview": ["getOrganizationOverview"],
  "GET /api/organizations/{name}/avatar": ["getOrganizationAvatar"],
  "GET /api/organizations/{name}/members": ["listOrganizationMembers"],
  "GET /api/organizations/{name}/audit-log/export": ["exportAuditLog", "audit_log.read"],

  "POST /api/credentials/revoke": ["revokeLeakedCredentials"],
  [`POST ${tokens}/revoke`]: ["revokeOrganizationToken", "organization.revoke_token"],
  [`POST ${tokens}/{tokenId}/revoke`]: ["revokeOrganizationTokenById", "organization.revoke_token"],

  "POST /api/events": ["sendPlatformEvents"],
  "POST /api/repos/sync": ["syncPlatformRepositories"],

  "GET /api/jobs/hardware": ["listJobHardware"],
  "GET /api/jobs/{namespace}/count": ["countJobs", "job.read"],
  "GET /api/jobs/{namespace}": ["listJobs", "job.read"],
  "POST /api/jobs/{namespace}": ["runJob", "job.run"],
  [`GET ${job}`]: ["getJob", "job.read"],
  [`POST ${job}/duplicate`]: ["duplicateJob", "job.run"],
  [`POST ${job}/cancel`]: ["cancelJob", "job.run"],
  [`PUT ${job}/labels`]: ["setJobLabels", "job.run"],
  [`PUT ${job}/expose`]: ["exposeJob", "job.run"],
  [`GET ${job}/logs`]: ["followJobLogs", "job.read"],
  [`GET ${job}/events`]: ["followJobEvents", "job.read"],
  [`GET ${job}/metrics`]: ["followJobMetrics", "job.read"],
  "GET /api/scheduled-jobs/{namespace}": ["listScheduledJobs", "job.read"],
  "POST /api/scheduled-jobs/{namespace}": ["createScheduledJob", "job.run"],
  [`GET ${scheduledJob}`]: ["getScheduledJob", "job.read"],
  [`DELETE ${scheduledJob}`]: ["deleteScheduledJob", "job.run"],
  [`POST ${scheduledJob}/suspend`]: ["suspendScheduledJob", "job.run"],
  [`POST ${scheduledJob}/resume`]: ["resumeScheduledJob", "job.run"],
  [`POST ${scheduledJob}/schedule`]: ["rescheduleJob", "job.run"],
  [`PUT ${scheduledJob}/labels`]: ["setScheduledJobLabels", "job.run"],
  [`POST ${scheduledJob}/run`]: ["runScheduledJob", "job.run"],

  "GET {A}": ["listApps", "oauth_app.read"],
  "POST {A}": ["createApp", "oauth_app.create"],
  "GET {A}/{id}": ["getApp", "oauth_app.read"],
  "POST {A}/{id}": ["updateApp", "oauth_app.manage"],
  "POST {A}/{id}/rotate-secret": ["rotateAppSecret", "oauth_app.manage_security"],
  "DELETE {A}/{id}": ["deleteApp", "oauth_app.manage_security"],

  "GET /api/settings/relays": ["listRelays", "relay.read"],
  [`PUT ${relay}`]: ["openRelay", "relay.manage"],
  [`GET ${relay}`]: ["getRelay", "relay.read"],
  [`DELETE ${relay}`]: ["closeRelay", "relay.manage"],
  [`GET ${relay}/requests`]: ["listenToRelay", "relay.manage"],
  [`POST ${relay}/requests/{id}/answer`]: ["answerRelayedRequest", "relay.manage"],

  "GET {W}": ["listWebhooks", "webhook.read"],
  "POST {W}": ["createWebhook", "webhook.manage"],
  "GET {W}/{id}": ["getWebhook", "webhook.read"],
  "POST {W}/{id}": ["updateWebhook", "webhook.manage"],
  "DELETE {W}/{id}": ["deleteWebhook", "webhook.manage"],
  "POST {W}/{id}/enable": ["enableWebhook", "webhook.manage"],
  "POST {W}/{id}/disable": ["disableWebhook", "webhook.manage"],
  "POST {W}/{id}/rotate-secret": ["rotateWebhookSecret", "webhook.manage"],
  "GET {W}/{id}/deliveries": ["listWebhookDeliveries", "webhook.read"],
  "GET {W}/{id}/deliveries/live": ["followWebhookDeliveries", "webhook.read"],
  "GET {W}/{id}/deliveries/{deliveryId}": ["getWebhookDelivery", "webhook.read"],
  "GET {W}/{id}/chart": ["getWebhookChart", "webhook.read"],
  "POST {W}/{id}/replay/{logId}": ["replayWebhookDelivery", "webhook.manage"],
  "POST {W}/{id}/test": ["sendWebhookTest", "webhook.manage"],
  "GET {W}/{id}/replays": ["listWebhookReplays", "webhook.read"],
  "POST {W}/{id}/replays": ["startWebhookReplay", "webhook.manage"],
  "GET {W}/{id}/replays/{replayId}": ["getWebhookReplay", "webhook.read"],
  "POST {W}/{id}/replays/{replayId}/cancel": ["cancelWebhookReplay", "webhook.manage"],
};

export type Found = {
  operationId: string;
  /** The same for each type of repository and owner: their equal bodies are named after it. */
  family: string;
  actions: readonly Action[];
};

export function findOperation(method: string, path: string): Found | undefined {
  const { template, rename } = generalize(path);
  const line = operations[`${method.toUpperCase()} ${template}`];
  if (!line) return undefined;
  const [family, ...actions] = line;
  return { operationId: rename(family), family, actions };
}

/** `/api/datasets/{owner}…` is one of three that are alike. */
function generalize(path: string): { template: string; rename: (name: string) => string } {
  const [prefix, organization, kind] = /^\/api\/(organizations\/\{name\}\/)?settings\/(webhooks|apps)/.exec(path) ?? [];
  if (prefix) {
    const word = kind === "apps" ? "App" : "Webhook";
    const rename = (name: string) => (organization ? name.replace(word, `Organization${word}`) : name);
    return { template: path.replace(prefix, kind === "apps" ? "{A}" : "{W}"), rename };
  }
  const [, api = "", segment, rest = ""] =
    /^(\/api)?\/(models|datasets|spaces)(\/\{owner\}.*)?$/.exec(path) ?? /^()()(\/\{owner\}\/.*)$/.exec(path) ?? [];
  const word = segment === undefined ? undefined : (words[segment] ?? "Model");
  if (!word) return { template: path, rename: (name) => name };
  return { template: api ? `${api}/{T}${rest}` : `{T}${rest}`, rename: (name) => name.replace(/Repo(?!sitor)/, word) };
}

const words: Record<string, string> = { models: "Model", datasets: "Dataset", spaces: "Space" };
