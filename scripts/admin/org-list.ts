import { operatorCommand } from "#core/access/actor.ts";
import { listAllOrganizations } from "#core/accounts/organizations/list-all-organizations.ts";
import { organizationPlans } from "#core/accounts/organizations/plans.ts";
import { command } from "./command.ts";

const LIST_MAX = 100;
const plans = ["free", ...organizationPlans] as const;

export const orgList = command({
  name: "org list",
  summary: "Lists organizations, the newest first.",
  options: {
    search: { value: "TEXT", help: "part of a name" },
    plan: { value: "PLAN", help: `only those with it: ${plans.join(", ")}`, choices: plans },
    page: { value: "N", help: `which ${LIST_MAX} of them; the first unless given` },
  },
  async run({ search, plan, page }) {
    const wanted = plan === "free" ? "none" : organizationPlans.find((known) => known === plan);
    const { items, total } = await listAllOrganizations(operatorCommand, {
      text: search,
      plan: wanted,
      page: Number(page ?? 1),
      pageSize: LIST_MAX,
    });
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
    const lines = organizations.map(({ name, plan, members, administrator, email }) =>
      [
        name,
        plan ?? "free",
        members === 1 ? "1 member" : `${members} members`,
        administrator ?? "no administrator",
        email ?? "",
      ].join("\t"),
    );
    return {
      json: { organizations, total },
      text: [total === 1 ? "1 organization:" : `${total} organizations:`, ...lines].join("\n"),
    };
  },
});
