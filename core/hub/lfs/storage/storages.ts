import { env } from "../../../env.ts";
import type { LfsStorage } from "./lfs-storage.ts";
import { localStorage } from "./local-storage.ts";
import { s3Storage } from "./s3-storage.ts";

export function lfsStorage(): LfsStorage {
  return env().LFS_STORAGE === "s3" ? s3Storage() : localStorage;
}

export function storageOf(location: string): LfsStorage {
  return location.startsWith("s3:") ? s3Storage() : localStorage;
}
