import { accountScreens } from "./account-screens.ts";
import { admin } from "./admin.ts";
import { appScreens } from "./app-screens.ts";
import { collectionScreens } from "./collection-screens.ts";
import { consentScreens } from "./consent-screens.ts";
import { contentScreens } from "./content-screens.ts";
import { discussionScreens } from "./discussion-screens.ts";
import { enterAgain } from "./enter.ts";
import { hubClient } from "./hub.ts";
import { underMouse } from "./permissions-modal.ts";
import { Repository } from "./sample-repository.ts";
import { account, as, at, go, pressFor, type Screen } from "./screen.ts";
import { webhookScreens } from "./webhook-screens.ts";

export const screens: Screen[] = [
  ...[
    at("start", "/"),
    at("sign-in", "/login"),
    at("sign-up", "/signup"),
    at("forgot-password", "/forgot-password"),
    at("reset-password-expired", "/reset-password/no-such-token"),
    at("verify-email-expired", "/verify-email/no-such-token"),
    at("invitation-expired", "/invitations/no-such-token"),
    at("setup-expired", "/setup/no-such-token"),
    at("not-found", "/no-such/page", 404),
    at("authorization-error", "/oauth/authorize?client_id=no-such-app", 400),
    at("signed-out", "/oauth/logout/success"),
    at("consent-run-out", "/interaction/no-such-question", 410),
    at("about-consent", "/docs/consent"),
    at("docs", "/docs"),
    at("docs-search", "/docs?search=verify+signature"),
    at("docs-not-found", "/docs?search=nosuchword"),
    at("docs-sign-in", "/docs/sign-in"),
    at("docs-webhooks", "/docs/webhooks"),
    at("docs-events", "/docs/events"),
    at("docs-access", "/docs/access"),
    at("docs-api", "/docs/api"),
    at("docs-api-webhooks", "/docs/api/webhooks"),
    at("docs-api-operation", "/docs/api/webhooks/createWebhook"),
    at("docs-badges", "/docs/badges"),
    at("docs-sdk-reference", "/docs/sdk/reference"),
    at("docs-sdk-function", "/docs/sdk/reference/functions/finishLogin"),
    at("models", "/models"),
    at("search", "/search?search=tide"),
    at("search-empty", "/search"),
    at("search-not-found", "/search?search=nosuchword"),
    at("space-app-failed", "/spaces/mara/no-such-space/app/", 404),
    at("models-not-found", "/models?search=no+such+model"),
    at("repo-card", "/mara/tide-forecasts"),
    at("repo-likes", "/mara/tide-forecasts/likes"),
    at("repo-gate-anonymous", "/datasets/aiko/storm-surges"),
  ],

  ...[
    as("newcomer", "start-newcomer", "/"),
    as("newcomer", "profile", "/settings/profile"),
    as("newcomer", "account", "/settings/account"),
    as("newcomer", "security", "/settings/security"),
    as("newcomer", "storage-empty", "/settings/storage"),
    as("newcomer", "linked-accounts-empty", "/settings/linked-accounts"),
    as("newcomer", "connected-apps-empty", "/settings/connected-applications"),
    as("newcomer", "apps-empty", "/settings/applications"),
    as("newcomer", "app-new", "/settings/applications/new"),
    as("newcomer", "tokens-empty", "/settings/tokens"),
    as("newcomer", "token-new", "/settings/tokens/new"),
    as("newcomer", "publishers-empty", "/settings/publishers"),
    as("newcomer", "publisher-new", "/settings/publishers/new?from=gitlab"),
    as("newcomer", "webhooks-empty", "/settings/webhooks"),
    as("newcomer", "webhook-new", "/settings/webhooks/new?watch=user:mara"),
    as("mara", "webhooks", "/settings/webhooks"),
    as("aiko", "organization-webhooks", "/organizations/tidepool/settings/webhooks"),
    as("newcomer", "jobs-empty", "/settings/jobs"),
    as("newcomer", "job-new", "/settings/jobs/new"),
    as("newcomer", "schedules-empty", "/settings/jobs/schedules"),
    as("newcomer", "schedule-new", "/settings/jobs/schedules/new"),
    as("newcomer", "organizations-empty", "/organizations"),
    as("newcomer", "organization-new", "/organizations/new"),
    as("newcomer", "reauthenticate", "/login?reauthenticate=1&next=/settings/account"),
    as("newcomer", "sign-out", "/logout"),
    as("mara", "start-member", "/"),
    as("mara", "person", "/mara"),
    as("mara", "organizations", "/organizations"),
    as("aiko", "organization", "/tidepool"),
    as("aiko", "organization-overview", "/organizations/tidepool"),
    as("aiko", "organization-app-policy", "/organizations/tidepool/settings/app-policy"),
    as("aiko", "organization-ownership", "/organizations/tidepool/settings/ownership"),
    as("opal", "admin-organizations", "/admin/organizations"),
    as("opal", "admin-organization-plan", "/admin/organizations/tidepool"),
    as("opal", "admin-storage", "/admin/storage"),
    as("opal", "admin-storage-not-found", "/admin/storage?search=no+such+owner"),
    as("opal", "admin-storage-quota", "/admin/storage/tidepool"),
    as("mara", "storage", "/settings/storage"),
    as("aiko", "organization-storage", "/organizations/tidepool/settings/storage"),
    as("aiko", "organization-members", "/organizations/tidepool/members"),
    as("aiko", "organization-member", "/organizations/tidepool/members/jonas"),
    as("aiko", "organization-apps", "/organizations/tidepool/settings/applications"),
    as("aiko", "organization-app-new", "/organizations/tidepool/settings/applications/new"),
    as("aiko", "organization-security", "/organizations/tidepool/settings/security"),
    as("aiko", "organization-settings", "/organizations/tidepool/settings"),
    as("aiko", "organization-jobs-empty", "/organizations/tidepool/settings/jobs"),
    as("aiko", "organization-publishers-empty", "/organizations/tidepool/settings/publishers"),
    as("aiko", "repo-publishers-empty", "/datasets/aiko/storm-surges/settings/publishers"),
    as("aiko", "repo-publisher-new", "/datasets/aiko/storm-surges/settings/publishers/new?from=oidc"),
    as("aiko", "apps", "/settings/applications"),
    as("aiko", "docs-sign-in-own-app", "/docs/sign-in"),
    as("newcomer", "docs-device-no-app", "/docs/device"),
    as("opal", "admin", "/admin"),
    as("opal", "admin-sign-up", "/admin/sign-up"),
    as("opal", "admin-users", "/admin/users"),
    as("opal", "admin-users-not-found", "/admin/users?search=no+such+user"),
    as("opal", "admin-mail", "/admin/mail"),
    as("opal", "admin-outbound", "/admin/outbound?url=http://localhost/"),
    as("opal", "admin-keys", "/admin/keys"),
    as("opal", "admin-inference-empty", "/admin/inference"),
    as("newcomer", "inference-empty", "/settings/inference"),
    as("opal", "admin-apps", "/admin/apps"),
    as("opal", "admin-apps-not-found", "/admin/apps?search=no+such+app"),
    as("opal", "admin-hosts", "/admin/hosts"),
    as("opal", "admin-host-block", "/admin/hosts/block?host=app.example.com"),
    as("opal", "admin-registration", "/admin/registration"),
    as("opal", "admin-identity-providers", "/admin/identity-providers"),
    as("opal", "admin-platforms", "/admin/platforms"),
    as("newcomer", "gated-repos-empty", "/settings/gated-repos"),
    as("newcomer", "repo-new", "/new?type=space"),
    as("newcomer", "repo-gate", "/datasets/aiko/storm-surges"),
    as("mara", "repo-card-own", "/spaces/mara/tide-viewer"),
    as("mara", "repo-likes-own", "/mara/tide-forecasts/likes"),
    as("newcomer", "repo-likes-empty", "/spaces/mara/tide-viewer/likes"),
    as("aiko", "repo-settings", "/datasets/aiko/storm-surges/settings"),
    as("aiko", "repo-settings-access", "/datasets/aiko/storm-surges/settings?tab=access"),
    as("aiko", "repo-settings-danger", "/datasets/aiko/storm-surges/settings?tab=danger"),
    as("aiko", "repo-access", "/datasets/aiko/storm-surges/settings/access"),
    as("newcomer", "collections-empty", "/collections?owner=opal"),
    as("newcomer", "collection-new", "/collections/new"),
  ],
  {
    name: "publishers",
    async open({ page, newcomer }) {
      await enterAgain(page, newcomer);
      await go(page, "/settings/publishers/new?from=github");
      await page.getByRole("textbox", { name: "Repository", exact: true }).fill(`octo/kite-${Date.now()}`);
      await page.getByRole("textbox", { name: "Branch or tag" }).fill("refs/heads/main");
      await page.getByRole("button", { name: "Add publisher" }).click();
      await page.getByText("Set up your pipeline").waitFor();
    },
  },
  {
    name: "job",
    async open(visit) {
      const { page, demo } = visit;
      const hub = await hubClient(demo, { username: "mara" }, "jobs");
      const job = {
        dockerImage: "debian",
        command: ["sh", "-c", "echo Hello; exit 3"],
        flavor: "cpu-basic",
        secrets: { KEY: "secret" },
      };
      const { id } = await hub.send<{ id: string }>("POST", "/api/jobs/mara", job);
      await enterAgain(page, account(visit, "mara"));
      await go(page, `/settings/jobs/${id}`);
      await page.getByText("Failed", { exact: true }).first().waitFor();
    },
  },
  {
    name: "repo-card-empty",
    async open({ page, demo, newcomer }) {
      const repository = await Repository.make(demo, newcomer);
      await enterAgain(page, newcomer);
      await go(page, repository.path);
    },
  },
  {
    name: "repo-access-asked",
    async open({ page, demo, newcomer }) {
      await enterAgain(page, newcomer);
      await go(page, "/datasets/aiko/storm-surges");
      await page.getByLabel("Message").fill("For my thesis.\nThank you.");
      await (await underMouse(page.getByRole("button", { name: "Share and request access" }))).click();
      await page.getByText("Nobody has decided yet.").waitFor();
      await enterAgain(page, { username: "aiko", password: demo.password });
      await go(page, "/datasets/aiko/storm-surges/settings/access");
    },
  },
  {
    name: "search-dialog",
    async open(visit) {
      const { page } = visit;
      await enterAgain(page, account(visit, "mara"));
      await go(page, "/");
      const field = page.getByRole("combobox", { name: /^Search/ });
      await pressFor(page, "Control+k", field);
      await field.fill("tide");
      await page.getByRole("option").first().waitFor();
    },
  },
  {
    name: "redirect-uri-error",
    async open({ page, demo, newcomer }) {
      const words = "--name Ferry --scopes openid --redirect-uri https://ferry.example/cb";
      const { client_id = "" } = await admin(demo, "app", "create", "--owner", newcomer.username, ...words.split(" "));
      await enterAgain(page, newcomer);
      const query = new URLSearchParams({ client_id, redirect_uri: "https://ferry.example/old", response_type: "code" });
      await go(page, `/oauth/authorize?${query}`, 400);
    },
  },
  {
    name: "admin-app-review",
    async open(visit) {
      await enterAgain(visit.page, account(visit, "opal"));
      await go(visit.page, "/admin/apps");
      await visit.page
        .getByRole("link", { name: /^Review/ })
        .first()
        .click();
      await visit.page.getByText("Redirect URIs").waitFor();
    },
  },
  ...accountScreens,
  ...appScreens,
  ...collectionScreens,
  ...consentScreens,
  ...discussionScreens,
  ...contentScreens,
  ...webhookScreens,
  { name: "sample-in-browser", open: async ({ page, demo }) => void (await page.goto(demo.sites.inBrowser)) },
];
