import { apiSegments, type RepoType, repoTypes } from "@keyhook/sdk";
import type { Action } from "#core/access/rules.ts";
import { scopesFor } from "./security.ts";

/** Who may call a route; `token` is a user's or a CI job's. A route without a caller reads no token. */
export type Caller = "anyone" | "token" | "user" | "platform";

/** What the OpenAPI document says about a route, besides its parameters, body and responses. */
export type Operation = {
  /** The name of a function in generated clients: it never changes. */
  operationId: string;
  /** The action that core passes to `may`; the document's scopes follow from it. */
  action?: Action;
  actor?: Caller;
  /** `{type}`, `{whose}` and `{forWhom}` are replaced for each address (`families`). */
  summary: string;
  description?: string;
  /** Replaces the requirement that follows from `actor`. */
  security?: Security;
};

type Security = Record<string, string[]>[];
const token: Security = [{ bearer: [] }, { dpop: [] }];
const security: Record<Caller, Security> = {
  anyone: [{}, ...token],
  token,
  user: token,
  platform: [{ bearer: [] }],
};

/** An operation in the form of the document's generator. Operations of one family share `x-family`; equal bodies are named after it. */
export function operationOf({ operationId, action, actor, summary, description, ...own }: Operation, address: Address) {
  const schemes = own.security ?? (actor && security[actor]);
  return {
    operationId: address.rename(operationId),
    "x-family": operationId,
    "x-scopes": scopesFor(action ? [action] : []),
    summary: summary.replace(/\{(type|whose)\}/, address.label).replace("{forWhom}", address.forWhom ?? ""),
    ...(description && { description }),
    ...(schemes && { security: schemes }),
  };
}

export type Address = {
  /** Replaces the family's name in a path. */
  path: string;
  /** Replaces `{type}` or `{whose}` in a summary. */
  label: string;
  /** Replaces `{forWhom}` in a summary. */
  forWhom?: string;
  rename(operationId: string): string;
  type?: RepoType;
};

const words = { model: "Model", dataset: "Dataset", space: "Space" } as const satisfies Record<RepoType, string>;

/** Families of addresses. A route of a family is defined once, and each address has its own operation in the document. */
export const families = {
  /** The types of repositories: `getRepo` becomes `getModel`. */
  TYPES: repoTypes.map((type) => ({
    ...{ path: apiSegments[type], label: type === "space" ? "Space" : type, type },
    rename: (id: string) => id.replace("Repo", words[type]),
  })),
  /** One's own webhooks, and an organization's: `getWebhook` becomes `getOrganizationWebhook`. */
  WEBHOOKS: ownAndOrganizations("webhooks", "Webhook"),
  /** OAuth apps, likewise. */
  APPS: ownAndOrganizations("apps", "App"),
};

function ownAndOrganizations(segment: string, word: string): readonly Address[] {
  return [
    { path: `/api/settings/${segment}`, label: "of your own", forWhom: "for yourself", rename: (id) => id },
    {
      ...{ path: `/api/organizations/{name}/settings/${segment}`, label: "of an organization", forWhom: "for an organization" },
      rename: (id) => id.replace(word, `Organization${word}`),
    },
  ];
}
