import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { z } from "zod";

/**
 * The only reader of `process.env`. One schema, parsed on first use; an invalid value stops the start with its name and the reason. Values
 * that the supervisor finds out at run time (the embedded database, the stored secret key) reach the other processes as ordinary
 * environment variables, so they are parsed here too.
 */

function isAddressRange(entry: string): boolean {
  const [address = "", prefix, ...rest] = entry.split("/");
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return bits > 0 && rest.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits));
}

function isUrlOf(...protocols: string[]): (text: string) => boolean {
  return (text) => {
    const url = URL.parse(text);
    return url !== null && protocols.includes(url.protocol) && url.hostname !== "";
  };
}

const cidrList = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .refine((list) => list.every(isAddressRange), {
    message: "must be a comma-separated list of IP addresses or CIDR ranges, such as 10.0.0.0/8,192.168.1.4",
  });

const origin = z
  .string()
  .optional()
  .superRefine((text, context) => {
    if (text === undefined) return;
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol)) {
      context.addIssue({ code: "custom", message: "must be an http or https URL, such as https://keyhook.example.com" });
    } else if (url.href !== `${url.origin}/` || url.username) {
      context.addIssue({ code: "custom", message: `must be a bare origin without a path, such as ${url.origin}` });
    }
  })
  .transform((text) => (text === undefined ? undefined : new URL(text).origin));

function wholeNumber(least: number, most: number, standard: number) {
  const reason = `must be a whole number between ${least} and ${most}`;
  return z.coerce.number(reason).int(reason).min(least, reason).max(most, reason).default(standard);
}

function megabytes(standard: number) {
  const reason = "must be a whole number of MiB between 1 and 1000000";
  return z.coerce.number(reason).int(reason).min(1, reason).max(1_000_000, reason).default(standard);
}

/** Names of flavors with their resources: `cpu-basic=2x2` is two CPUs and two GiB. */
const flavorList = z
  .string()
  .default("cpu-basic=2x2,cpu-upgrade=4x8")
  .transform((text, context) => {
    const flavors = text.split(",").map((part) => {
      const [, name = "", cpus, gibibytes] = /^([a-z0-9-]{1,40})=(\d{1,3}(?:\.\d)?)x(\d{1,4}(?:\.\d)?)$/.exec(part.trim()) ?? [];
      return { name, cpus: Number(cpus), memoryBytes: Number(gibibytes) * 1024 ** 3 };
    });
    if (flavors.every(({ name, cpus, memoryBytes }) => name && cpus > 0 && memoryBytes > 0)) return flavors;
    const message = "must be a comma-separated list of names with CPUs and GiB of memory, such as cpu-basic=2x2,cpu-upgrade=4x8";
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });

const uidRange = z
  .string()
  // UIDs that systemd leaves unused.
  .default("60706-61183")
  .transform((text, context) => {
    const [first = 0, last = 0] = (/^(\d{4,9})-(\d{4,9})$/.exec(text.trim()) ?? []).slice(1).map(Number);
    if (first >= 1000 && last >= first) return { first, last };
    context.addIssue({
      code: "custom",
      message: "must be a range of user numbers from 1000 on that nobody has, such as 60706-61183",
    });
    return z.NEVER;
  });

const nameList = (standard: string) =>
  z
    .string()
    .default(standard)
    .transform((text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "" && part !== "none"),
    );

const fields = z.object({
  NODE_ENV: z.enum(["development", "production", "test"]).default("production"),
  PORT: z.coerce
    .number("must be a port number between 1 and 65535")
    .int("must be a whole number")
    .min(1, "must be between 1 and 65535")
    .max(65535, "must be between 1 and 65535")
    .default(3000),
  ORIGIN: origin,
  DATA_DIR: z
    .string()
    .default("./data")
    .transform((path) => resolve(path)),
  DATABASE_URL: z.string().refine(isUrlOf("postgres:", "postgresql:"), "must be a postgres:// or postgresql:// URL").optional(),
  /** The role that runs migrations, if the role of DATABASE_URL must not own the tables. */
  DATABASE_OWNER_URL: z
    .string()
    .refine(isUrlOf("postgres:", "postgresql:"), "must be a postgres:// or postgresql:// URL")
    .optional(),
  SECRET_KEY: z.string().min(32, "must have at least 32 characters; `openssl rand -base64 48` makes a good one").optional(),
  SMTP_URL: z.string().refine(isUrlOf("smtp:", "smtps:"), "must be an smtp:// or smtps:// URL").optional(),
  MAIL_FROM: z
    .string()
    .regex(
      /^(?:[^\s<>@]+@[^\s<>@]+|[^<>@\r\n]*<[^\s<>@]+@[^\s<>@]+>)$/,
      "must be an address, such as Keyhook <keyhook@example.com>",
    )
    .optional(),
  BRAND_NAME: z.string().trim().min(1).max(40).default("Keyhook"),
  VENDOR: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,30}$/, "must be a lower-case word, since it becomes part of a URN")
    .default("keyhook"),
  TOKEN_PREFIX: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9]{0,9}_$/, "must be letters and digits ending in an underscore, such as kh_")
    .default("kh_"),
  TRUST_PROXY: cidrList,
  OUTBOUND_ALLOW_CIDRS: cidrList,
  LFS_STORAGE: z.enum(["local", "s3"], { error: "must be local or s3" }).default("local"),
  LFS_MAX_OBJECT_MB: z.coerce
    .number("must be a number of megabytes")
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(5_000_000, "must be at most 5000000, the largest object that S3 takes")
    .default(50_000),
  LFS_S3_ENDPOINT: z
    .string()
    .refine(isUrlOf("http:", "https:"), "must be an http or https URL, such as https://s3.example.com")
    .optional(),
  LFS_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be a bucket's name: lower-case letters, digits, . and -")
    .optional(),
  LFS_S3_REGION: z.string().default("us-east-1"),
  LFS_S3_ACCESS_KEY_ID: z.string().optional(),
  LFS_S3_SECRET_ACCESS_KEY: z.string().optional(),
  LFS_S3_PATH_STYLE: z.enum(["0", "1"], { error: "must be 0 or 1" }).optional(),
  LFS_S3_PROXY: z.enum(["0", "1"], { error: "must be 0 or 1" }).default("0"),
  GIT_MAX_FILE_MB: megabytes(10),
  GIT_MAX_PUSH_MB: megabytes(2048),
  STORAGE_USER_GB: wholeNumber(0, 1_000_000, 50),
  STORAGE_ORGANIZATION_GB: wholeNumber(0, 1_000_000, 50),
  STORAGE_RELAY_MB: wholeNumber(0, 1_000_000, 256),
  STORAGE_LOGS_MB: wholeNumber(0, 1_000_000, 1_000),
  STORAGE_ATTEMPTS_MB: wholeNumber(0, 1_000_000, 1_000),
  ANONYMOUS_ADDRESS_PERCENT: wholeNumber(1, 100, 2),
  INFERENCE_IDLE_SECONDS: z.coerce
    .number("must be a number of seconds")
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(1800, "must be at most 1800, half an hour, which is as long as a request may take")
    .default(300),
  INFERENCE_EXTRA_FIELDS: nameList(""),
  JOBS_RUNNER: z
    .enum(["auto", "bubblewrap", "docker", "kubernetes", "unsandboxed", "off"], {
      error: "must be auto, bubblewrap, docker, kubernetes, unsandboxed or off",
    })
    .default("auto"),
  JOBS_CONCURRENCY: z.coerce
    .number("must be a whole number between 1 and 1000")
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(1000, "must be at most 1000")
    .default(4),
  JOBS_NETWORK: z.enum(["0", "1"], { error: "must be 0 or 1" }).default("0"),
  JOBS_FLAVORS: flavorList,
  JOBS_CGROUP: z.enum(["auto", "off"], { error: "must be auto or off" }).default("auto"),
  JOBS_UIDS: uidRange,
  JOBS_IMAGES: nameList("debian,ubuntu,python,node"),
  /** Registries, or parts of them, from which jobs may use images: those with curated content, since an image can fill a disk. */
  JOBS_REGISTRIES: nameList("docker.io/library,public.ecr.aws/docker/library,gcr.io/distroless,mcr.microsoft.com").refine(
    (list) => list.every((entry) => /^[a-z0-9.[\]:-]+(\/[a-z0-9._-]+)*$/.test(entry)),
    "must be a comma-separated list of registries or parts of them, in lower case, such as docker.io/library,ghcr.io/acme",
  ),
  JOBS_LOCAL_IMAGES: nameList(""),
  JOBS_NODE_IMAGE: z.string().default("docker.io/library/node:24-slim"),
  JOBS_IMAGE_MAX_MB: megabytes(4_096),
  JOBS_IMAGE_CACHE_MB: megabytes(20_480),
  JOBS_DOCKER_SOCKET: z.string().default("/var/run/docker.sock"),
  JOBS_KUBERNETES_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be a namespace's name: lower-case letters, digits and -")
    .default("default"),
  WEBHOOK_TRIGGERS_PER_DAY: wholeNumber(1, 10_000_000, 1_000),
  // Longer than a delivery can be retried: nine times, each deferred by the target for at most a day (S125).
  WEBHOOK_KEEP_DAYS: wholeNumber(10, 365, 30),
  SPACES_CONCURRENCY: z.coerce
    .number("must be a whole number between 0 and 1000")
    .int("must be a whole number")
    .min(0, "must be at least 0")
    .max(1000, "must be at most 1000")
    .default(16),
  SPACES_LISTEN: z
    .string()
    .regex(/^(\[[0-9a-f:]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?$/, "must be an address of this machine, such as 10.0.0.5:7070")
    .default("127.0.0.1"),
  SPACES_ADDRESS: z
    .string()
    .refine(isUrlOf("http:"), "must be an http URL by which other machines reach SPACES_LISTEN, such as http://10.0.0.5:7070")
    .optional(),
  WORKER_HEALTH_PORT: z.coerce
    .number("must be a port number between 1 and 65535")
    .int("must be a whole number")
    .min(1, "must be between 1 and 65535")
    .max(65535, "must be between 1 and 65535")
    .optional(),
  METRICS_TOKEN: z.string().min(16, "must have at least 16 characters; `openssl rand -hex 24` makes a good one").optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .refine(isUrlOf("http:", "https:"), "must be an http or https URL, such as http://collector:4318")
    .optional(),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** Set by the supervisor: the database is its own child process, not the operator's. */
  KEYHOOK_EMBEDDED: z.enum(["0", "1"]).default("0"),
});

const needsS3 = ["LFS_S3_BUCKET", "LFS_S3_ACCESS_KEY_ID", "LFS_S3_SECRET_ACCESS_KEY"] as const;

const consistent = fields.superRefine((value, context) => {
  if (value.JOBS_IMAGE_CACHE_MB < value.JOBS_IMAGE_MAX_MB)
    context.addIssue({ code: "custom", path: ["JOBS_IMAGE_CACHE_MB"], message: "must be at least JOBS_IMAGE_MAX_MB" });
  if (value.LFS_STORAGE !== "s3") return;
  for (const name of needsS3) {
    if (!value[name]) context.addIssue({ code: "custom", path: [name], message: "is required with LFS_STORAGE=s3" });
  }
});

const schema = consistent.transform((value) => ({ ...value, ORIGIN: value.ORIGIN ?? `http://localhost:${value.PORT}` }));

/** The variables that are read. */
export const settingNames = Object.keys(fields.shape);

export type Env = z.infer<typeof schema>;

/** Thrown for invalid settings; the message is shown on the operator's terminal. */
export class SettingsError extends Error {
  override name = "SettingsError";
}

/** Parses settings. An empty variable counts as absent, as in a copied `.env.example`. */
export function parseEnv(source: Record<string, string | undefined>): Env {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = schema.safeParse(present);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  throw new SettingsError(`These settings cannot be used:\n${lines.join("\n")}\nSee .env.example for what each one means.`);
}

/** Reads `.env` from the working directory, if it exists; variables that are already set have priority. */
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

/** Settings that may come from files, where Docker and Kubernetes mount secrets: `SECRET_KEY_FILE=/run/secrets/secret-key`. */
const secretSettings = [
  "SECRET_KEY",
  "DATABASE_URL",
  "DATABASE_OWNER_URL",
  "SMTP_URL",
  "METRICS_TOKEN",
  "LFS_S3_SECRET_ACCESS_KEY",
] as const satisfies (keyof Env)[];

function readSecretFile(name: (typeof secretSettings)[number]): void {
  const path = process.env[`${name}_FILE`];
  // Child processes get the value, or an empty one if they must not have it (core/instance/child.ts), never the file's path.
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
    // The only way to tell next-auth its URL; it would assume http://localhost:3000.
    process.env.NEXTAUTH_URL = cached.ORIGIN;
  }
  return cached;
}

/** Adds settings found out at run time (embedded database URL, stored secret key), for this process and its children. */
export function provideSettings(found: Partial<Record<keyof Env, string>>): Env {
  Object.assign(process.env, found);
  cached = undefined;
  return env();
}

/** The settings as a child process should see them. */
export function childEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...extra };
}

/** SECRET_KEY, for code that cannot work without it. */
export function secretKey(): string {
  const { SECRET_KEY } = env();
  if (!SECRET_KEY)
    throw new SettingsError("SECRET_KEY is required when DATABASE_URL is set; `openssl rand -base64 48` makes a good one.");
  return SECRET_KEY;
}

/** DATABASE_URL, for code that cannot work without it. */
export function databaseUrl(): string {
  const { DATABASE_URL } = env();
  if (!DATABASE_URL) throw new SettingsError("DATABASE_URL is not set and no embedded database was started for this process.");
  return DATABASE_URL;
}

/** Only for tests: a superuser's URL of a server on which they may create databases; without it they start their own. */
export function testServerUrl(): string | undefined {
  return process.env.TEST_DATABASE_URL || undefined;
}
