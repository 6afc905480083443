import { organizationRoles } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { addMember } from "#core/accounts/organizations/members/add-member.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { command } from "./command.ts";
import { findOrganizationNamed } from "./find-named.ts";

export const orgAddMember = command({
  name: "org add-member",
  summary: "Makes an existing user a member of an organization.",
  options: {
    org: { value: "ORG", help: "the organization", isRequired: true },
    user: { value: "USER", help: "who joins it", isRequired: true, field: "username" },
    role: { value: "ROLE", help: organizationRoles.join(", "), isRequired: true, choices: organizationRoles },
  },
  async run({ org, user, role }) {
    const orgId = await findOrganizationNamed(org);
    await addMember(operatorCommand, orgId, { username: user, role }, noOrigin);
    return { json: { organization_id: orgId, user, role }, text: `${user} is in ${org} with the role ${role}.` };
  },
});
