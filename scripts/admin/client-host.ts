import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { documentPolicies, readDocumentPolicy, setDocumentPolicy } from "#core/oauth/documents/hosts/document-policy.ts";
import { listHostRules } from "#core/oauth/documents/hosts/list-host-rules.ts";
import { removeHostRule } from "#core/oauth/documents/hosts/remove-host-rule.ts";
import { setHostRule } from "#core/oauth/documents/hosts/set-host-rule.ts";
import { command } from "./command.ts";

const host = { value: "HOST", help: "its name, such as example.com", isRequired: true } as const;
const note = { value: "TEXT", help: "why, for other operators" } as const;
const COVERS = "A rule covers the subdomains too; where several apply, the most specific one decides.";

export const clientHostBlock = command({
  name: "client-host block",
  summary: "Blocks the apps whose metadata documents are on a host.",
  notes: [COVERS, "Their tokens die at once, and what people have allowed them is revoked."],
  options: { host, note },
  async run(values) {
    const { host, rule, revokedConsents } = await setHostRule(operatorCommand, { ...values, rule: "block" }, noOrigin);
    const ended = revokedConsents === 1 ? "1 consent was" : `${revokedConsents} consents were`;
    return {
      json: { host, rule, revoked_consents: revokedConsents },
      text: `Apps of ${host} are blocked; ${ended} revoked.`,
    };
  },
});

export const clientHostAllow = command({
  name: "client-host allow",
  summary: "Allows the apps whose metadata documents are on a host.",
  notes: [COVERS, 'Needed where the policy is "listed", and for a host whose parent domain is blocked.'],
  options: { host, note },
  async run(values) {
    const { host, rule } = await setHostRule(operatorCommand, { ...values, rule: "allow" }, noOrigin);
    return { json: { host, rule }, text: `Apps of ${host} are allowed.` };
  },
});

export const clientHostRemove = command({
  name: "client-host remove",
  summary: "Removes the rule for a host, so that the policy decides again.",
  options: { host },
  async run(values) {
    await removeHostRule(operatorCommand, values.host, noOrigin);
    return { json: { host: values.host }, text: `There is no rule for ${values.host} any more.` };
  },
});

export const clientHostPolicy = command({
  name: "client-host policy",
  summary: "Says whose metadata documents are taken, or changes it.",
  notes: [
    '"open": those of every host that is not blocked. "listed": those of hosts that are allowed. "off": nobody\'s. Apps that it no',
    "longer lets in cannot use their tokens until it is changed back.",
  ],
  options: { set: { value: documentPolicies.join("|"), help: "the new policy", choices: documentPolicies } },
  async run({ set }) {
    const policy = set ? await setDocumentPolicy(operatorCommand, set, noOrigin) : (await readDocumentPolicy()).policy;
    return { json: { policy }, text: `The policy for metadata documents is "${policy}".` };
  },
});

const LIST_MAX = 100;

export const clientHostList = command({
  name: "client-host list",
  summary: "Lists the rules for hosts of metadata documents.",
  options: { page: { value: "N", help: `which ${LIST_MAX} of them; the first unless given` } },
  async run({ page }) {
    const { policy } = await readDocumentPolicy();
    const { items, total } = await listHostRules(operatorCommand, { page: Number(page ?? 1), pageSize: LIST_MAX });
    const rules = items.map(({ host, rule, note, createdAt }) => ({ host, rule, note, created_at: createdAt.toISOString() }));
    const lines = rules.map(({ host, rule, note }) => [rule, host, note].filter(Boolean).join("\t"));
    return {
      json: { policy, rules, total },
      text: [`The policy is "${policy}". ${total === 1 ? "1 rule" : `${total} rules`}:`, ...lines].join("\n"),
    };
  },
});
