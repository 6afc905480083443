import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { countOwned } from "#core/hub/owners/count-owned.ts";
import { deleteOrganization } from "#core/hub/owners/delete-organization.ts";
import { command, UsageError } from "./command.ts";
import { findOrganizationNamed } from "./find-named.ts";

export const orgDelete = command({
  name: "org delete",
  summary: "Deletes an organization for good, with all that it owns.",
  notes: ["Its administrators are told by e-mail. Nobody can take its name again."],
  options: {
    org: { value: "ORG", help: "the organization", isRequired: true },
    confirm: { value: "ORG", help: "its name once more", isRequired: true },
  },
  async run({ org, confirm }) {
    if (confirm !== org) throw new UsageError("--confirm has to be the name of the organization, as --org is.");
    const orgId = await findOrganizationNamed(org);
    const { repos, collections, apps, webhooks, members } = await countOwned(orgId);
    await deleteOrganization(operatorCommand, orgId, noOrigin);
    return {
      json: { deleted: org, repos, collections, apps, webhooks, members },
      text: `${org} is deleted, with ${repos} repositories, ${collections} collections, ${apps} OAuth apps and ${webhooks} webhooks.`,
    };
  },
});
