import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import * as kind from "./setting-kinds.ts";

const fields = z.object({
  NODE_ENV: z.enum(["development", "production", "test"]).default("production"),
  PORT: kind.port.default(3000),
  ORIGIN: kind.origin,
  DATA_DIR: z
    .string()
    .default("./data")
    .transform((path) => resolve(path)),
  DATABASE_URL: kind.postgresUrl.optional(),
  /** For session locks and LISTEN, which need one connection for longer than a transaction. */
  DATABASE_DIRECT_URL: kind.postgresUrl.optional(),
  /** The role for migrations, if the role of DATABASE_URL must not own the tables. */
  DATABASE_OWNER_URL: kind.postgresUrl.optional(),
  SECRET_KEY: kind.secret.optional(),
  /** The previous or the next SECRET_KEY during a rotation. It only decrypts. */
  SECRET_KEY_PREVIOUS: kind.secret.optional(),
  SMTP_URL: kind.url(["smtp:", "smtps:"], "must be an smtp:// or smtps:// URL").optional(),
  MAIL_FROM: kind
    .like(
      /^(?:[^\s<>@]+@[^\s<>@]+|[^<>@\r\n]*<[^\s<>@]+@[^\s<>@]+>)$/,
      "must be an e-mail address, such as Keyhook <keyhook@example.com>",
    )
    .optional(),
  BRAND_NAME: z.string().trim().min(1).max(40).default("Keyhook"),
  VENDOR: kind.like(/^[a-z][a-z0-9-]{0,30}$/, "must be a lower-case word, because it becomes part of a URN").default("keyhook"),
  TOKEN_PREFIX: kind
    .like(/^[A-Za-z][A-Za-z0-9]{0,9}_$/, "must be letters and digits ending in an underscore, such as kh_")
    .default("kh_"),
  TRUST_PROXY: kind.cidrList,
  OUTBOUND_ALLOW_CIDRS: kind.cidrList,
  LFS_STORAGE: z.enum(["local", "s3"], { error: "must be local or s3" }).default("local"),
  /** S3 accepts no larger object. */
  LFS_MAX_OBJECT_MB: kind.wholeNumber(1, 5_000_000).default(50_000),
  XET: kind.flag.default("1"),
  LFS_S3_ENDPOINT: kind.url(["http:", "https:"], "must be an http or https URL, such as https://s3.example.com").optional(),
  LFS_S3_BUCKET: kind
    .like(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket: lower-case letters, digits, . and -")
    .optional(),
  LFS_S3_REGION: z.string().default("us-east-1"),
  LFS_S3_ACCESS_KEY_ID: z.string().optional(),
  LFS_S3_SECRET_ACCESS_KEY: z.string().optional(),
  LFS_S3_PATH_STYLE: kind.flag.optional(),
  LFS_S3_PROXY: kind.flag.default("0"),
  GIT_MAX_FILE_MB: kind.mebibytes.default(10),
  GIT_MAX_PUSH_MB: kind.mebibytes.default(2048),
  STORAGE_USER_GB: kind.wholeNumber(0, 1_000_000).default(50),
  STORAGE_ORGANIZATION_GB: kind.wholeNumber(0, 1_000_000).default(50),
  STORAGE_RELAY_MB: kind.wholeNumber(0, 1_000_000).default(256),
  STORAGE_LOGS_MB: kind.wholeNumber(0, 1_000_000).default(1_000),
  STORAGE_ATTEMPTS_MB: kind.wholeNumber(0, 1_000_000).default(1_000),
  ANONYMOUS_ADDRESS_PERCENT: kind.wholeNumber(1, 100).default(2),
  /** The maximum is half an hour, because a whole request may take no longer. */
  INFERENCE_IDLE_SECONDS: kind.wholeNumber(1, 1_800).default(300),
  INFERENCE_EXTRA_FIELDS: kind.nameList(""),
  JOBS_RUNNER: z
    .enum(["auto", "bubblewrap", "docker", "kubernetes", "unsandboxed", "off"], {
      error: "must be auto, bubblewrap, docker, kubernetes, unsandboxed or off",
    })
    .default("auto"),
  JOBS_CONCURRENCY: kind.wholeNumber(1, 1_000).default(4),
  JOBS_NETWORK: kind.flag.default("0"),
  JOBS_FLAVORS: kind.flavorList,
  JOBS_CGROUP: z.enum(["auto", "off"], { error: "must be auto or off" }).default("auto"),
  JOBS_UIDS: kind.uidRange,
  JOBS_IMAGES: kind.nameList("debian,ubuntu,python,node"),
  /** The default registries contain only curated images. Anybody could build an image that fills the disk. */
  JOBS_REGISTRIES: kind
    .nameList("docker.io/library,public.ecr.aws/docker/library,gcr.io/distroless,mcr.microsoft.com")
    .refine(
      (list) => list.every((entry) => /^[a-z0-9.[\]:-]+(\/[a-z0-9._-]+)*$/.test(entry)),
      "must be a comma-separated, lower-case list of registries or parts of them, such as docker.io/library,ghcr.io/acme",
    ),
  JOBS_LOCAL_IMAGES: kind.nameList(""),
  JOBS_NODE_IMAGE: z.string().default("docker.io/library/node:24-slim"),
  JOBS_IMAGE_MAX_MB: kind.mebibytes.default(4_096),
  JOBS_IMAGE_CACHE_MB: kind.mebibytes.default(20_480),
  JOBS_DOCKER_SOCKET: z.string().default("/var/run/docker.sock"),
  JOBS_KUBERNETES_NAMESPACE: kind
    .like(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be the name of a namespace: lower-case letters, digits and -")
    .default("default"),
  PLATFORM_REQUESTS_PER_MINUTE: kind.wholeNumber(1, 10_000_000).default(60_000),
  WEBHOOK_TRIGGERS_PER_DAY: kind.wholeNumber(1, 10_000_000).default(1_000),
  // At least ten days: a delivery can be retried nine times, and the receiver can defer each retry for a day (S125).
  WEBHOOK_KEEP_DAYS: kind.wholeNumber(10, 365).default(30),
  SPACES_CONCURRENCY: kind.wholeNumber(0, 1_000).default(16),
  SPACES_LISTEN: kind
    .like(/^(\[[0-9a-f:]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?$/, "must be an address of this machine, such as 10.0.0.5:7070")
    .default("127.0.0.1"),
  SPACES_ADDRESS: kind
    .url(["http:"], "must be the http URL at which other machines reach SPACES_LISTEN, such as http://10.0.0.5:7070")
    .optional(),
  WORKER_HEALTH_PORT: kind.port.optional(),
  BACKUP_PASSWORD: kind.secret.optional(),
  BACKUP_S3_ENDPOINT: kind.url(["http:", "https:"], "must be an http or https URL, such as https://s3.example.com").optional(),
  BACKUP_S3_REGION: z.string().default("us-east-1"),
  BACKUP_S3_ACCESS_KEY_ID: z.string().optional(),
  BACKUP_S3_SECRET_ACCESS_KEY: z.string().optional(),
  METRICS_TOKEN: z.string().min(16, "must have at least 16 characters; `openssl rand -hex 24` generates one").optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: kind
    .url(["http:", "https:"], "must be an http or https URL, such as http://collector:4318")
    .optional(),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
});

const needsS3 = ["LFS_S3_BUCKET", "LFS_S3_ACCESS_KEY_ID", "LFS_S3_SECRET_ACCESS_KEY"] as const;

const consistent = fields.superRefine((value, context) => {
  if (value.JOBS_IMAGE_CACHE_MB < value.JOBS_IMAGE_MAX_MB)
    context.addIssue({ code: "custom", path: ["JOBS_IMAGE_CACHE_MB"], message: "must be at least JOBS_IMAGE_MAX_MB" });
  if (value.DATABASE_DIRECT_URL && !value.DATABASE_URL)
    context.addIssue({ code: "custom", path: ["DATABASE_DIRECT_URL"], message: "requires DATABASE_URL, the URL of the pooler" });
  if (value.LFS_STORAGE !== "s3") return;
  for (const name of needsS3) {
    if (!value[name]) context.addIssue({ code: "custom", path: [name], message: "is required with LFS_STORAGE=s3" });
  }
});

const schema = consistent.transform((value) => ({ ...value, ORIGIN: value.ORIGIN ?? `http://localhost:${value.PORT}` }));

export const settingNames = Object.keys(fields.shape);

export type Env = z.infer<typeof schema>;

export class SettingsError extends Error {
  override name = "SettingsError";
}

/** An empty variable counts as absent, as in a copy of `.env.example`. */
export function parseEnv(source: Record<string, string | undefined>): Env {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = schema.safeParse(present);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  throw new SettingsError(`These settings are invalid:\n${lines.join("\n")}\nSee .env.example for the meaning of each setting.`);
}

export function loadSettingsFile(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      throw new SettingsError(`.env cannot be read: ${(error as Error).message}`);
  }
  for (const name of secretSettings) readSecretFile(name);
  cached = undefined;
}

/** Docker and Kubernetes mount secrets as files, for example `SECRET_KEY_FILE=/run/secrets/secret-key`. */
const secretSettings = [
  "SECRET_KEY",
  "SECRET_KEY_PREVIOUS",
  "DATABASE_URL",
  "DATABASE_DIRECT_URL",
  "DATABASE_OWNER_URL",
  "SMTP_URL",
  "METRICS_TOKEN",
  "LFS_S3_SECRET_ACCESS_KEY",
  "BACKUP_PASSWORD",
  "BACKUP_S3_SECRET_ACCESS_KEY",
] as const satisfies (keyof Env)[];

function readSecretFile(name: (typeof secretSettings)[number]): void {
  const path = process.env[`${name}_FILE`];
  // Child processes must not get the file's path, because some of them must not know the value.
  delete process.env[`${name}_FILE`];
  if (!path || process.env[name]) return;
  try {
    process.env[name] = readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new SettingsError(`${name}_FILE: ${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

let cached: Env | undefined;

export function env(): Env {
  if (!cached) {
    cached = parseEnv(process.env);
    // next-auth reads its URL only from this variable.
    process.env.NEXTAUTH_URL = cached.ORIGIN;
  }
  return cached;
}

export function provideSettings(found: Partial<Record<keyof Env, string>>): Env {
  Object.assign(process.env, found);
  cached = undefined;
  return env();
}

export function childEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...extra };
}

export function secretKey(): string {
  const { SECRET_KEY } = env();
  if (!SECRET_KEY)
    throw new SettingsError("SECRET_KEY is required when DATABASE_URL is set; `openssl rand -base64 48` generates one.");
  return SECRET_KEY;
}

/** The first key encrypts. */
export function secretKeys(): [string, ...string[]] {
  const { SECRET_KEY_PREVIOUS } = env();
  const current = secretKey();
  return SECRET_KEY_PREVIOUS && SECRET_KEY_PREVIOUS !== current ? [current, SECRET_KEY_PREVIOUS] : [current];
}

export function databaseUrl(): string {
  const { DATABASE_URL } = env();
  if (!DATABASE_URL) throw new SettingsError("DATABASE_URL is not set and no embedded database was started for this process.");
  return DATABASE_URL;
}

export const directDatabaseUrl = (): string => env().DATABASE_DIRECT_URL ?? databaseUrl();

export function testServerUrl(): string | undefined {
  return process.env.TEST_DATABASE_URL || undefined;
}
