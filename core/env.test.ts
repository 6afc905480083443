import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseEnv as parseFile } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { env, loadSettingsFile, parseEnv, provideSettings, SettingsError, settingNames } from "./env.ts";

describe("settings", () => {
  it("need not be given", () => {
    expect(parseEnv({})).toMatchObject({
      NODE_ENV: "production",
      PORT: 3000,
      ORIGIN: "http://localhost:3000",
      DATA_DIR: resolve("data"),
      BRAND_NAME: "Keyhook",
      VENDOR: "keyhook",
      TOKEN_PREFIX: "kh_",
      TRUST_PROXY: [],
      OUTBOUND_ALLOW_CIDRS: [],
    });
  });

  it("derive the origin from the port, unless the origin is given", () => {
    expect(parseEnv({ PORT: "4000" }).ORIGIN).toBe("http://localhost:4000");
    expect(parseEnv({ PORT: "4000", ORIGIN: "https://Keys.example.com:443" }).ORIGIN).toBe("https://keys.example.com");
  });

  it.each([
    ["PORT", "none"],
    ["PORT", "0"],
    ["PORT", "65536"],
    ["PORT", "80.5"],
    ["ORIGIN", "keys.example.com"],
    ["ORIGIN", "ftp://keys.example.com"],
    ["ORIGIN", "https://keys.example.com/path"],
    ["ORIGIN", "https://user@keys.example.com"],
    ["DATABASE_URL", "mysql://localhost/keyhook"],
    ["DATABASE_URL", "postgres://"],
    ["SECRET_KEY", "short"],
    ["SMTP_URL", "mail.example.com:25"],
    ["MAIL_FROM", "Keyhook"],
    ["VENDOR", "Key Hook"],
    ["TOKEN_PREFIX", "kh"],
    ["TRUST_PROXY", "10.0.0.0/33"],
    ["TRUST_PROXY", "10.0.0.1, proxy.example.com"],
    ["OUTBOUND_ALLOW_CIDRS", "fd00::/129"],
    ["LFS_STORAGE", "tape"],
    ["LFS_MAX_OBJECT_MB", "0"],
    ["LFS_S3_ENDPOINT", "s3.example.com"],
    ["LFS_S3_BUCKET", "My Bucket"],
    ["LFS_S3_PATH_STYLE", "yes"],
    ["LFS_S3_PROXY", "true"],
    ["LOG_LEVEL", "loud"],
  ])("stop the start with an error that names the setting if %s is %j", (name, value) => {
    expect(() => parseEnv({ [name]: value })).toThrow(SettingsError);
    expect(() => parseEnv({ [name]: value })).toThrow(new RegExp(`^  ${name}: \\w`, "m"));
  });

  it("are all named in the error when several are invalid", () => {
    expect(() => parseEnv({ PORT: "x", VENDOR: "X" })).toThrow(/PORT: [\s\S]*VENDOR: /);
  });

  it("require a bucket and its key with LFS_STORAGE=s3", () => {
    expect(() => parseEnv({ LFS_STORAGE: "s3" })).toThrow(
      /LFS_S3_BUCKET: is required[\s\S]*LFS_S3_ACCESS_KEY_ID: is [\s\S]*LFS_S3_SECRET_ACCESS_KEY: is /,
    );
    const given = { LFS_S3_BUCKET: "files", LFS_S3_ACCESS_KEY_ID: "id", LFS_S3_SECRET_ACCESS_KEY: "key" };
    expect(parseEnv({ LFS_STORAGE: "s3", ...given }).LFS_STORAGE).toBe("s3");
  });

  it("never contain a secret in their error messages", () => {
    expect(() => parseEnv({ SECRET_KEY: "hunter2", DATABASE_URL: "hunter2", SMTP_URL: "hunter2" })).toThrow(
      /^((?!hunter2)[\s\S])*$/,
    );
  });

  it("accept lists of addresses and ranges", () => {
    expect(parseEnv({ TRUST_PROXY: " 127.0.0.1, ::1 ,10.0.0.0/8," }).TRUST_PROXY).toEqual(["127.0.0.1", "::1", "10.0.0.0/8"]);
  });

  it("are all in .env.example, which can be used unchanged", () => {
    const example = parseFile(readFileSync(join(import.meta.dirname, "../.env.example"), "utf8"));
    expect(Object.keys(example).sort()).toEqual(settingNames.filter((name) => name !== "NODE_ENV").sort());
    expect(parseEnv(example)).toEqual(parseEnv({}));
  });
});

it("settings that are secrets are read from files, and no child process gets the files' paths", () => {
  const folder = mkdtempSync(join(tmpdir(), "keyhook-secrets-"));
  const before = env().METRICS_TOKEN;
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
    provideSettings({ METRICS_TOKEN: before ?? "" });
  });
  writeFileSync(join(folder, "token"), "a token in a file\n");
  process.env.METRICS_TOKEN_FILE = join(folder, "token");
  loadSettingsFile();
  expect(env().METRICS_TOKEN).toBe("a token in a file");
  expect(process.env.METRICS_TOKEN_FILE).toBeUndefined();

  process.env.METRICS_TOKEN_FILE = "/nowhere/at/all";
  loadSettingsFile();
  expect(env().METRICS_TOKEN).toBe("a token in a file");
  process.env.METRICS_TOKEN = "";
  process.env.METRICS_TOKEN_FILE = "/nowhere/at/all";
  expect(loadSettingsFile).toThrow(/METRICS_TOKEN_FILE: \/nowhere\/at\/all cannot be read/);
});
