import { apiSegments, type RepoType, repoTypes } from "@keyhook/sdk";
import type { Action } from "#core/access/rules.ts";
import { scopesFor } from "./security.ts";

/** `token` is a user's or a CI job's. A route without a caller reads no token. */
export type Caller = "anyone" | "token" | "user" | "platform";

export type Operation = {
  /** The name of a function in generated clients, which must never change. */
  operationId: string;
  /** The action that core passes to `may`. The document's scopes follow from the action. */
  action?: Action;
  actor?: Caller;
  /** Values of `families` replace `{type}`, `{whose}` and `{forWhom}`. */
  summary: string;
  description?: string;
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

/** Operations of one family share `x-family`, which names their equal bodies. */
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
  forWhom?: string;
  rename(operationId: string): string;
  type?: RepoType;
};

const words = { model: "Model", dataset: "Dataset", space: "Space" } as const satisfies Record<RepoType, string>;

export const families = {
  /** `getRepo` becomes `getModel`. */
  TYPES: repoTypes.map((type) => ({
    ...{ path: apiSegments[type], label: type === "space" ? "Space" : type, type },
    rename: (id: string) => id.replace("Repo", words[type]),
  })),
  /** `getWebhook` becomes `getOrganizationWebhook`. */
  WEBHOOKS: ownAndOrganizations("webhooks", "Webhook"),
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
