import { isLfsOid, type LfsObjectId } from "./lfs-object.ts";

export const LFS_POINTER_MAX_BYTES = 1023;

const VERSIONS = new Set(["https://git-lfs.github.com/spec/v1", "http://git-media.io/v/2", "https://hawser.github.com/spec/v1"]);
const LINE = /^([a-z0-9.-]+) (.*)$/;

/** This is as strict as git-lfs, so that both recognize the same pointers. */
export function parseLfsPointer(content: string | Uint8Array): LfsObjectId | undefined {
  if (content.length > LFS_POINTER_MAX_BYTES) return undefined;
  const text = typeof content === "string" ? content : Buffer.from(content).toString("latin1");
  if (!text.startsWith("version ")) return undefined;
  const lines = text.replace(/\n$/, "").split("\n");
  const entries = lines.map((line) => LINE.exec(line));
  if (entries.includes(null)) return undefined;
  const [version, ...rest] = entries.map((entry) => [entry?.[1] ?? "", entry?.[2] ?? ""] as const);
  if (!version || !VERSIONS.has(version[1])) return undefined;
  const keys = rest.map(([key]) => key);
  if (keys.some((key, at) => at > 0 && key <= (keys[at - 1] as string))) return undefined;
  const values = new Map(rest);
  const [algorithm, oid] = (values.get("oid") ?? "").split(":");
  const size = values.get("size") ?? "";
  if (algorithm !== "sha256" || !isLfsOid(oid) || !/^\d{1,15}$/.test(size)) return undefined;
  return { oid, size: Number(size) };
}

export function lfsPointerTo({ oid, size }: LfsObjectId): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
}
