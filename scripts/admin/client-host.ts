import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { documentPolicies, readDocumentPolicy, setDocumentPolicy } from "#core/oauth/documents/hosts/document-policy.ts";
import { listHostRules, removeHostRule, setHostRule } from "#core/oauth/documents/hosts/host-rules.ts";
import { command, listed } from "./command.ts";
import { pageOption, readPage } from "./option-values.ts";

const host = { value: "HOST", help: "its name, such as example.com", isRequired: true } as const;
const note = { value: "TEXT", help: "why, for other operators" } as const;
const COVERS = "A rule covers subdomains too; if several apply, the most specific one decides.";

const clientHostBlock = command({
  name: "client-host block",
  summary: "Blocks the apps whose metadata documents are on a host.",
  notes: [COVERS, "Their tokens become invalid at once, and users' consents are revoked."],
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

const clientHostAllow = command({
  name: "client-host allow",
  summary: "Allows the apps whose metadata documents are on a host.",
  notes: [
    COVERS,
    'Required if the policy is "listed", and for a host whose parent domain is blocked. Has no effect if the policy is "off".',
  ],
  options: { host, note },
  async run(values) {
    const { host, rule } = await setHostRule(operatorCommand, { ...values, rule: "allow" }, noOrigin);
    return { json: { host, rule }, text: `The rule for ${host} now allows its apps.` };
  },
});

const clientHostRemove = command({
  name: "client-host remove",
  summary: "Removes the rule for a host. After that, a rule for a parent domain decides, or else the policy.",
  options: { host },
  async run(values) {
    await removeHostRule(operatorCommand, values.host, noOrigin);
    return { json: { host: values.host }, text: `There is no longer a rule for ${values.host}.` };
  },
});

const clientHostPolicy = command({
  name: "client-host policy",
  summary: "Shows or sets which metadata documents are accepted.",
  notes: [
    '"open": from every host that is not blocked. "listed": from allowed hosts. "off": from no host. Apps that are no longer',
    "allowed cannot use their tokens until the policy changes back.",
  ],
  options: { set: { value: documentPolicies.join("|"), help: "the new policy", choices: documentPolicies } },
  async run({ set }) {
    const policy = set ? await setDocumentPolicy(operatorCommand, set, noOrigin) : (await readDocumentPolicy()).policy;
    return { json: { policy }, text: `The policy for metadata documents is "${policy}".` };
  },
});

const clientHostList = command({
  name: "client-host list",
  summary: "Lists the rules for hosts of metadata documents.",
  options: { page: pageOption },
  async run({ page }) {
    const { policy } = await readDocumentPolicy();
    const { items, total } = await listHostRules(operatorCommand, readPage(page));
    const rules = items.map(({ host, rule, note, createdAt }) => ({ host, rule, note, created_at: createdAt.toISOString() }));
    const heading = `The policy is "${policy}". ${total === 1 ? "1 rule" : `${total} rules`}:`;
    const lines = rules.map(({ host, rule, note }) => [rule, host, note].filter(Boolean));
    return listed({ policy, rules, total }, [[heading], ...lines]);
  },
});

export const clientHostCommands = [clientHostBlock, clientHostAllow, clientHostRemove, clientHostList, clientHostPolicy];
