import { env } from "../../../env.ts";
import type { LfsStorage } from "./lfs-storage.ts";
import { localStorage } from "./local-storage.ts";
import { s3Storage } from "./s3-storage.ts";

/** The storage of new objects, by LFS_STORAGE. */
export function lfsStorage(): LfsStorage {
  return env().LFS_STORAGE === "s3" ? s3Storage() : localStorage;
}

/** The storage of an existing object, under these settings or earlier ones. */
export function storageOf(location: string): LfsStorage {
  return location.startsWith("s3:") ? s3Storage() : localStorage;
}
