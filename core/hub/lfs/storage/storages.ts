import { env } from "../../../env.ts";
import type { LfsStorage } from "./lfs-storage.ts";
import { localStorage } from "./local-storage.ts";
import { s3Storage } from "./s3-storage.ts";

/** Where new objects go, by LFS_STORAGE. */
export function lfsStorage(): LfsStorage {
  return env().LFS_STORAGE === "s3" ? s3Storage() : localStorage;
}

/** Where an object lies that was stored under these settings or earlier ones. */
export function storageOf(location: string): LfsStorage {
  return location.startsWith("s3:") ? s3Storage() : localStorage;
}
