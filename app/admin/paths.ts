import { hrefWith } from "../_server/page-query.ts";
import { pathSegment } from "../_server/paths.ts";

export const HOSTS_PATH = "/admin/hosts";

export type HostsQuery = Readonly<{ search?: string; page?: number; rules?: number }>;

export const SEEN = "seen";
export const RULES = "rules";

export const hostsPath = (query: HostsQuery, notice?: string): string => hrefWith(HOSTS_PATH, { ...query, notice });

export function blockHostPath(host: string, note = ""): string {
  return `${HOSTS_PATH}/block?${new URLSearchParams({ host, ...(note && { note }) })}`;
}

export const APPS_PATH = "/admin/apps";

export const INFERENCE_PATH = "/admin/inference";

export const inferencePath = (notice: string): string => `${INFERENCE_PATH}?notice=${notice}`;

export const ORGANIZATIONS_PATH = "/admin/organizations";

export const organizationPlanPath = (name: string): string => `${ORGANIZATIONS_PATH}/${pathSegment(name)}`;

export const STORAGE_PATH = "/admin/storage";

export const storageQuotaPath = (handle: string): string => `${STORAGE_PATH}/${pathSegment(handle)}`;

export const USERS_PATH = "/admin/users";

export function userPath(userId: string, notice?: string): string {
  return `${USERS_PATH}/${userId}${notice ? `?notice=${notice}` : ""}`;
}
