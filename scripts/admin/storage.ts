import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { readableSize } from "#core/readable-size.ts";
import { listStoringOwners, setStorageQuota } from "#core/storage/manage-quotas.ts";
import { command } from "./command.ts";

const LIST_MAX = 100;
const kinds = ["user", "organization"] as const;
const words = (quota: number | null): string => (quota === null ? "no limit" : readableSize(quota));

export const storageList = command({
  name: "storage list",
  summary: "Lists who stores most, and of how much.",
  notes: [
    "The quota is about git and Git LFS together. The total has the records too: relay inboxes, job logs, webhook answers.",
  ],
  options: {
    search: { value: "TEXT", help: "part of a name" },
    kind: { value: "KIND", help: `only one kind: ${kinds.join(", ")}`, choices: kinds },
    page: { value: "N", help: `which ${LIST_MAX} of them; the first unless given` },
  },
  async run({ search, kind, page }) {
    const { items, total } = await listStoringOwners(operatorCommand, {
      ...(search !== undefined && { text: search }),
      kind: kinds.find((known) => known === kind),
      page: Number(page ?? 1),
      pageSize: LIST_MAX,
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
    const lines = items.map(({ kind, handle, bytes, total, quota, isQuotaSet }) =>
      [
        handle,
        kind,
        `${readableSize(bytes.git + bytes.lfs)} of ${words(quota)}${isQuotaSet ? " (set)" : ""}`,
        `${readableSize(total)} in all`,
      ].join("\t"),
    );
    return { json: { owners, total }, text: [total === 1 ? "1 owner:" : `${total} owners:`, ...lines].join("\n") };
  },
});

export const storageSet = command({
  name: "storage set",
  summary: "Sets how much one person or organization may store in repositories.",
  notes: ["Nothing is deleted by it. Whoever stores more than that cannot add anything."],
  options: {
    owner: { value: "NAME", help: "the user or the organization", isRequired: true },
    quota: { value: "SIZE", help: "such as 200 GB; none for no limit; default for what the settings say", isRequired: true },
  },
  async run({ owner, quota }) {
    const bytes = await setStorageQuota(operatorCommand, owner, quota, noOrigin);
    return {
      json: { name: owner, quota_bytes: bytes },
      text: `${owner} may store ${bytes === null ? "without limit" : words(bytes)}.`,
    };
  },
});
