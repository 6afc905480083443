import { organizationRoles } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { findOrganization, listAllOrganizations } from "#core/accounts/organizations/find-organization.ts";
import { addMember } from "#core/accounts/organizations/members.ts";
import { hasTokenExchange, organizationPlans } from "#core/accounts/organizations/plans.ts";
import { countExchangeApps, setPlan } from "#core/accounts/organizations/set-plan.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { counted } from "#core/counted.ts";
import { countOwned, deleteOrganization } from "#core/hub/owners/delete-owner.ts";
import { command, listed, UsageError } from "./command.ts";
import { findOrganizationNamed, findUserNamed, pageOption, readPage } from "./option-values.ts";

const org = { value: "ORG", help: "the organization", isRequired: true } as const;
const plans = ["free", ...organizationPlans] as const;

const orgCreate = command({
  name: "org create",
  summary: "Creates an organization. The user named with --owner becomes its first administrator.",
  options: {
    name: { value: "NAME", help: "the handle, which is the first part of its repositories' names", isRequired: true },
    owner: { value: "USER", help: "the first administrator", isRequired: true },
    "full-name": { value: "NAME", help: "the name shown to users", field: "fullName" },
    plan: { value: "PLAN", help: `one of ${organizationPlans.join(", ")}; by default free`, choices: organizationPlans },
  },
  async run({ name, owner, "full-name": fullName, plan }) {
    const ownerId = await findUserNamed(owner);
    const organization = await createOrganization(operatorCommand, { name, fullName, ownerId }, noOrigin);
    if (plan) await setPlan(operatorCommand, organization.id, plan, noOrigin);
    return {
      json: { id: organization.id, name: organization.name, plan: plan ?? null },
      text: `Organization ${organization.name}${plan ? ` (${plan})` : ""}, administered by ${owner}.\nid: ${organization.id}`,
    };
  },
});

const orgAddMember = command({
  name: "org add-member",
  summary: "Adds an existing user to an organization.",
  options: {
    org,
    user: { value: "USER", help: "the new member", isRequired: true, field: "username" },
    role: { value: "ROLE", help: organizationRoles.join(", "), isRequired: true, choices: organizationRoles },
  },
  async run({ org, user, role }) {
    const orgId = await findOrganizationNamed(org);
    await addMember(operatorCommand, orgId, { username: user, role }, noOrigin);
    return { json: { organization_id: orgId, user, role }, text: `${user} is a member of ${org} with the role ${role}.` };
  },
});

const orgList = command({
  name: "org list",
  summary: "Lists organizations, newest first.",
  options: {
    search: { value: "TEXT", help: "part of a name" },
    plan: { value: "PLAN", help: `only those with this plan: ${plans.join(", ")}`, choices: plans },
    page: pageOption,
  },
  async run({ search, plan, page }) {
    const wanted = plan === "free" ? "none" : organizationPlans.find((known) => known === plan);
    const { items, total } = await listAllOrganizations(operatorCommand, { text: search, plan: wanted, ...readPage(page) });
    const organizations = items.map((organization) => ({
      id: organization.id,
      name: organization.name,
      full_name: organization.fullName,
      plan: organization.plan,
      members: organization.memberCount,
      administrator: organization.admin?.username ?? null,
      email: organization.email ?? organization.admin?.email ?? null,
      created_at: organization.createdAt.toISOString(),
    }));
    const lines = organizations.map(({ name, plan, members, administrator, email }) => [
      name,
      plan ?? "free",
      members === 1 ? "1 member" : `${members} members`,
      administrator ?? "no administrator",
      email ?? "",
    ]);
    return listed({ organizations, total }, [[total === 1 ? "1 organization:" : `${total} organizations:`], ...lines]);
  },
});

const orgSetPlan = command({
  name: "org set-plan",
  summary: "Sets the plan of an organization.",
  notes: [
    "Token exchange requires enterprise or plus. With any other plan, it stops at once, and the tokens that it issued are revoked.",
  ],
  options: { org, plan: { value: "PLAN", help: plans.join(", "), isRequired: true, choices: plans } },
  async run({ org, plan }) {
    const orgId = await findOrganizationNamed(org);
    const before = (await findOrganization(orgId))?.plan ?? null;
    const after = plan === "free" ? null : plan;
    await setPlan(operatorCommand, orgId, after, noOrigin);
    const stopped = hasTokenExchange(before) && !hasTokenExchange(after) ? await countExchangeApps(orgId) : 0;
    const ended = stopped === 1 ? "1 app" : `${stopped} apps`;
    return {
      json: { organization_id: orgId, plan: after, stopped_apps: stopped },
      text: `The plan of ${org} is ${plan}.${stopped > 0 ? ` Token exchange by ${ended} has stopped.` : ""}`,
    };
  },
});

const orgDelete = command({
  name: "org delete",
  summary: "Deletes an organization permanently, with everything that it owns.",
  notes: ["Its administrators are notified by e-mail if SMTP_URL is set. Nobody can use its name again."],
  options: { org, confirm: { value: "ORG", help: "its name again, to confirm", isRequired: true } },
  async run({ org, confirm }) {
    if (confirm !== org) throw new UsageError("--confirm must repeat the name given with --org.");
    const orgId = await findOrganizationNamed(org);
    const { repos, collections, apps, webhooks, members } = await countOwned(orgId);
    await deleteOrganization(operatorCommand, orgId, noOrigin);
    return {
      json: { deleted: org, repos, collections, apps, webhooks, members },
      text: `${org} was deleted, with ${counted(repos, "repository", "repositories")}, ${counted(collections, "collection")}, ${counted(apps, "OAuth app")} and ${counted(webhooks, "webhook")}.`,
    };
  },
});

export const orgCommands = [orgCreate, orgAddMember, orgList, orgSetPlan, orgDelete];
