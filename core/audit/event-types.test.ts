import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeAuditEvent } from "./describe-audit-event.ts";
import { auditEventTypes } from "./event-types.ts";

const CORE = join(import.meta.dirname, "..");
const sources = readdirSync(CORE, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !/generated|testing|event-types/.test(file))
  .map((file) => readFileSync(join(CORE, file), "utf8"))
  .join("\n");

describe("S116 the kinds of entries", () => {
  /** The actions that S116 lists. */
  test.each([
    ["app create", "oauth_app.create"],
    ["app change", "oauth_app.update"],
    ["app delete", "oauth_app.delete"],
    ["secret create", "oauth_app.secret_create"],
    ["secret rotate", "oauth_app.secret_rotate"],
    ["secret delete", "oauth_app.secret_delete"],
    ["redirect change", "oauth_app.redirect_change"],
    ["privilege change", "oauth_app.privilege_"],
    ["consent given", "oauth_consent.give"],
    ["consent denied", "oauth_consent.deny"],
    ["consent revoked", "oauth_consent.revoke"],
    ["device approve", "device.approve"],
    ["device deny", "device.deny"],
    ["exchange", "oauth_token.exchange"],
    ["exchange refused", "oauth_token.exchange_refused"],
    ["token replay detected", "oauth_token.replay_detected"],
    ["key rotation", "signing_key.rotate"],
    ["secret key rotation", "secret_key.rotate"],
    ["log export", "audit_log.export"],
  ])("%s is recorded", (_act, type) => {
    expect(Object.keys(auditEventTypes).some((each) => each.startsWith(type))).toBe(true);
    expect(sources.includes(type)).toBe(true);
  });

  test("are all recorded somewhere", () => {
    const inSql = ["audit_log.expire"];
    const unused = Object.keys(auditEventTypes).filter((type) => {
      const scope = type.slice(0, type.indexOf("."));
      return !sources.includes(`"${type}"`) && !sources.includes(`\`${scope}.\${`) && !inSql.includes(type);
    });
    expect(unused).toEqual([]);
  });

  test("S144 an action that removes something is not refused because of other entries", () => {
    const takes =
      /\.(end|revoke|remove|delete|disable|suspend|cancel|close|leave|block|un(?!lock|block)|reset|reject|withdraw|rotate|deny)|_(delete|revoke|rotate|comment)/;
    const wrong = Object.entries(auditEventTypes).filter(([type, { bound }]) => takes.test(type) && !bound);
    expect(wrong).toEqual([]);
  });

  test("each have a scope and an action, and a sentence without a full stop", () => {
    for (const [type, { did }] of Object.entries(auditEventTypes)) {
      expect(type).toMatch(/^[a-z_]+\.[a-z_]+$/);
      expect(did).toMatch(/^[a-z].*[^.]$/);
      expect(did.replace(/\[[^[\]]*\]/g, "")).not.toMatch(/[[\]]/);
    }
  });
});

describe("describeAuditEvent", () => {
  test.each([
    ["organization.set_plan", { data: { plan: "team" } }, "changed the plan to team"],
    ["organization.set_app_policy", { data: { policy: "approved" } }, "set the app policy to approved apps"],
    [
      "oauth_app.privilege_grant",
      { app: "Quay", data: { privilege: "token-exchange" } },
      "granted the app Quay the privilege token exchange",
    ],
    ["webhook.suspend", { data: { reason: "gone" } }, "automatically disabled the webhook: its target responded with 410 Gone"],
    [
      "inference_allowance.set",
      { data: { subject: "plan:team" } },
      "changed the monthly inference allowance of organizations with the plan team",
    ],
    ["inference_allowance.set", { data: { subject: "mara" } }, "changed the monthly inference allowance of mara"],
    [
      "space.set_sleep_time",
      { data: { repo: "a/b", seconds: 172_800 } },
      "changed the sleep time of the Space a/b to 172,800 seconds",
    ],
    ["discussion.lock", { data: { repo: "a/b", num: 1234 } }, "locked discussion 1234 of a/b"],
    [
      "organization.change_role",
      { subject: "ada", data: { from: "read", to: "admin" } },
      "changed the role of ada from read to admin",
    ],
    ["organization.change_role", { subject: "ada", data: null }, "changed the role of ada"],
    ["personal_access_token.create", { subject: "ada", data: { name: "laptop" } }, "created the access token laptop for ada"],
    [
      "personal_access_token.create",
      { subject: "ada", isOwn: true, data: { name: "laptop" } },
      "created the access token laptop",
    ],
    ["oauth_app.create", { app: "Quay", data: {} }, "created the app Quay"],
    ["oauth_app.create", { data: [] }, "created the app (unknown)"],
    ["repo.delete", { data: { repo: "x".repeat(1000) } }, `deleted the repository ${"x".repeat(200)}…`],
    ["repo.delete", { data: { repo: "{subject}[$&]" }, subject: "ada" }, "deleted the repository {subject}[$&]"],
    ["constructor.prototype", { data: {} }, "constructor.prototype"],
    ["toString", { data: {} }, "toString"],
  ])("%s of %j", (type, facts, sentence) => expect(describeAuditEvent(type, facts)).toBe(sentence));
});
