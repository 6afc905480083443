import { z } from "@hono/zod-openapi";
import { avatarSchema, memberSchema, organizationOverviewSchema, userOverviewSchema } from "@keyhook/sdk";
import { avatarUrl } from "#core/accounts/avatar.ts";
import { findOwner, type Owner } from "#core/accounts/handles/find-owner.ts";
import { readDefaultVisibility, setDefaultVisibility, visibilities } from "#core/accounts/organizations/default-visibility.ts";
import { listMembers } from "#core/accounts/organizations/members.ts";
import { notFound } from "#core/errors.ts";
import { countOwnedRepos, listSharedOrganizations } from "#core/hub/owners/overview.ts";
import { defineRoute, json } from "../define-route.ts";
import { linkNextPage, pageNumber } from "../next-page.ts";

const PAGE_SIZE = 100;

const organizationSettingsSchema = z.object({
  defaultVisibility: z
    .enum(visibilities)
    .openapi({ description: "The visibility of new repositories, unless their creator chooses another." }),
});

export const peopleRoutes = [
  defineRoute("GET /api/users/{name}/overview", {
    operationId: "getUserOverview",
    actor: "anyone",
    summary: "Get a user's public profile",
    responses: { 200: json("The user", userOverviewSchema) },
    async handle({ actor, params }) {
      const owner = await findPublicOwner(params.name, "user");
      const [counts, organizations] = await Promise.all([
        countOwnedRepos(actor, owner.id),
        listSharedOrganizations(actor, owner.id),
      ]);
      return {
        _id: owner.id,
        type: "user",
        user: owner.handle,
        fullname: owner.fullName,
        avatarUrl: avatarUrl(owner.handle),
        createdAt: owner.createdAt.toISOString(),
        isPro: false,
        numModels: counts.model,
        numDatasets: counts.dataset,
        numSpaces: counts.space,
        orgs: organizations.map(({ id, name, fullName }) => ({ id, name, fullname: fullName, avatarUrl: avatarUrl(name) })),
      };
    },
  }),

  defineRoute("GET /api/organizations/{name}/overview", {
    operationId: "getOrganizationOverview",
    actor: "anyone",
    summary: "Get an organization's public profile",
    responses: { 200: json("The organization", organizationOverviewSchema) },
    async handle({ actor, params }) {
      const owner = await findPublicOwner(params.name, "organization");
      const counts = await countOwnedRepos(actor, owner.id);
      return {
        _id: owner.id,
        type: "org",
        name: owner.handle,
        fullname: owner.fullName,
        avatarUrl: avatarUrl(owner.handle),
        createdAt: owner.createdAt.toISOString(),
        numModels: counts.model,
        numDatasets: counts.dataset,
        numSpaces: counts.space,
      };
    },
  }),

  ...(["GET", "PUT"] as const).map((method) =>
    defineRoute(`${method} /api/organizations/{name}/settings`, {
      operationId: method === "GET" ? "getOrganizationSettings" : "updateOrganizationSettings",
      action: "organization.manage_defaults",
      actor: "user",
      summary: `${method === "GET" ? "Get" : "Update"} the defaults for an organization's new repositories`,
      ...(method === "PUT" && { body: organizationSettingsSchema }),
      responses: { 200: json("The settings", organizationSettingsSchema) },
      async handle({ actor, params, body, origin }) {
        const { id } = await findPublicOwner(params.name, "organization");
        if (method === "PUT") {
          const { defaultVisibility } = body as z.infer<typeof organizationSettingsSchema>;
          await setDefaultVisibility(actor, id, defaultVisibility, origin);
        }
        return { defaultVisibility: await readDefaultVisibility(actor, id) };
      },
    }),
  ),

  defineRoute("GET /api/organizations/{name}/members", {
    operationId: "listOrganizationMembers",
    // `anyone`, so that a missing organization is `not_found` even without a token. Core decides who may read the list.
    actor: "anyone",
    security: [{ bearer: [] }, { dpop: [] }],
    summary: "List the members of an organization (members only)",
    query: z.object({
      limit: z.coerce.number().int().min(1).max(PAGE_SIZE).default(PAGE_SIZE),
      p: pageNumber(),
    }),
    responses: { 200: json("The members, in the order in which they joined", z.array(memberSchema)) },
    async handle({ c, actor, params, query: { limit, p } }) {
      const owner = await findPublicOwner(params.name, "organization");
      const { items, page, pageSize, total } = await listMembers(actor, owner.id, { page: p, pageSize: limit });
      if (page * pageSize < total) linkNextPage(c, { p: page + 1 });
      return items
        .filter(({ isDisabled }) => !isDisabled)
        .map(({ userId, username, fullName, role }) => {
          const avatar = avatarUrl(username);
          return {
            _id: userId,
            type: "user" as const,
            user: username,
            fullname: fullName,
            avatarUrl: avatar,
            isPro: false,
            role,
          };
        });
    },
  }),

  defineRoute("GET /api/users/{name}/avatar", {
    operationId: "getUserAvatar",
    summary: "Get the URL of a user's picture",
    responses: { 200: json("The picture's URL", avatarSchema) },
    handle: async ({ params }) => ({ avatarUrl: avatarUrl((await findPublicOwner(params.name, "user")).handle) }),
  }),

  defineRoute("GET /api/organizations/{name}/avatar", {
    operationId: "getOrganizationAvatar",
    summary: "Get the URL of an organization's picture",
    responses: { 200: json("The picture's URL", avatarSchema) },
    handle: async ({ params }) => ({ avatarUrl: avatarUrl((await findPublicOwner(params.name, "organization")).handle) }),
  }),
];

export async function findPublicOwner(handle: string, kind: Owner["kind"]): Promise<Owner> {
  const owner = handle.isWellFormed() ? await findOwner(handle) : undefined;
  if (owner?.kind !== kind) throw notFound(kind === "user" ? "User" : "Organization");
  return owner;
}
