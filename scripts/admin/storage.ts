import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { readableSize } from "#core/readable-size.ts";
import { listStoringOwners, setStorageQuota } from "#core/storage/manage-quotas.ts";
import { command, listed } from "./command.ts";
import { pageOption, readPage } from "./option-values.ts";

const kinds = ["user", "organization"] as const;
const words = (quota: number | null): string => (quota === null ? "no limit" : readableSize(quota));

const storageList = command({
  name: "storage list",
  summary: "Lists the owners that store the most, with their quotas.",
  notes: ["The quota covers git and Git LFS together. The total includes records: relay inboxes, job logs, webhook responses."],
  options: {
    search: { value: "TEXT", help: "part of a name" },
    kind: { value: "KIND", help: `only one kind: ${kinds.join(", ")}`, choices: kinds },
    page: pageOption,
  },
  async run({ search, kind, page }) {
    const { items, total } = await listStoringOwners(operatorCommand, {
      ...(search !== undefined && { text: search }),
      kind: kinds.find((known) => known === kind),
      ...readPage(page),
    });
    const owners = items.map(({ id, kind, handle, bytes, total, quota, isQuotaSet }) => ({
      id,
      kind,
      name: handle,
      total_bytes: total,
      bytes,
      quota_bytes: quota,
      is_quota_set: isQuotaSet,
    }));
    const lines = items.map(({ kind, handle, bytes, total, quota, isQuotaSet }) => [
      handle,
      kind,
      `${readableSize(bytes.git + bytes.lfs)}${quota === null ? ", " : " of "}${words(quota)}${isQuotaSet ? " (set)" : ""}`,
      `${readableSize(total)} in all`,
    ]);
    return listed({ owners, total }, [[total === 1 ? "1 owner:" : `${total} owners:`], ...lines]);
  },
});

const storageSet = command({
  name: "storage set",
  summary: "Sets how much one user or organization may store in repositories.",
  notes: ["Nothing is deleted; an owner over the quota cannot add anything."],
  options: {
    owner: { value: "NAME", help: "the user or the organization", isRequired: true },
    quota: { value: "SIZE", help: "such as 200 GB, none for no limit, or default", isRequired: true },
  },
  async run({ owner, quota }) {
    const bytes = await setStorageQuota(operatorCommand, owner, quota, noOrigin);
    return {
      json: { name: owner, quota_bytes: bytes },
      text: `${owner} may store ${bytes === null ? "without limit" : words(bytes)}.`,
    };
  },
});

export const storageCommands = [storageList, storageSet];
