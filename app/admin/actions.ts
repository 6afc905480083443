"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { setPlan } from "#core/accounts/organizations/set-plan.ts";
import { resetSecondStep } from "#core/accounts/second-step/manage-second-step.ts";
import { disableUser, enableUser, endUserSessions, setOperator } from "#core/accounts/users/disable-user.ts";
import { findUser } from "#core/accounts/users/find-user.ts";
import { setSignUpPolicy } from "#core/accounts/users/sign-up-policy.ts";
import { notFound } from "#core/errors.ts";
import { deleteAccount } from "#core/hub/owners/delete-owner.ts";
import { createPlatform, revokePlatform, rotatePlatformToken } from "#core/hub/platforms/manage-platforms.ts";
import { findLivePlatform } from "#core/hub/platforms/platform.ts";
import { isId } from "#core/ids.ts";
import { setAppBlock, setAppPrivilege, setAppVerified, TOKEN_EXCHANGE } from "#core/oauth/apps/app-privilege.ts";
import { setDocumentPolicy } from "#core/oauth/documents/hosts/document-policy.ts";
import { previewHostBlock, removeHostRule, setHostRule } from "#core/oauth/documents/hosts/host-rules.ts";
import { setRegistrationPolicy } from "#core/oauth/registration/registration-policy.ts";
import { rotateKeys } from "#core/oauth/signing-keys.ts";
import { retryMail, sendTestEmail } from "#core/operations/mail.ts";
import { confirmBackups, dismissSetUpSteps } from "#core/operations/set-up-steps.ts";
import { setStorageQuota } from "#core/storage/manage-quotas.ts";
import { formAction, requireConfirmation, type Scope, text } from "../_server/form-action.ts";
import { nextPath } from "../_server/next-path.ts";
import { operatorAt, operatorOn } from "../_server/scopes.ts";
import type { SubmittedForm } from "../_server/submitted-form.ts";
import {
  APPS_PATH,
  blockHostPath,
  HOSTS_PATH,
  hostsPath,
  ORGANIZATIONS_PATH,
  organizationPlanPath,
  STORAGE_PATH,
  storageQuotaPath,
  USERS_PATH,
  userPath,
} from "./paths.ts";

/** A path outside the list becomes the first page of the list. */
function listOf(form: SubmittedForm): string {
  const path = nextPath(form.text("returnTo"), APPS_PATH);
  return path === APPS_PATH || path.startsWith(`${APPS_PATH}?`) ? path : APPS_PATH;
}

const appScope = operatorAt(listOf);

export const verifyAction = formAction(
  appScope,
  {},
  async ({ operator, page, from }, appId: string, isVerified: boolean, shownAt: string) => {
    await setAppVerified(operator, appId, isVerified === true, from, String(shownAt));
    back(page, isVerified ? "verified" : "unverified");
  },
);

export const privilegeAction = formAction(
  appScope,
  {},
  async ({ operator, page, from }, appId: string, isGranted: boolean, shownOrgId: string | null) => {
    await setAppPrivilege(operator, appId, TOKEN_EXCHANGE, isGranted === true, from, String(shownOrgId));
    back(page, isGranted ? "privilege-granted" : "privilege-revoked");
  },
);

export const blockAction = formAction(appScope, {}, async ({ operator, page, from }, appId: string) => {
  await setAppBlock(operator, appId, true, from);
  back(page, "blocked");
});

export const unblockAction = formAction(appScope, {}, async ({ operator, page, from }, appId: string) => {
  await setAppBlock(operator, appId, false, from);
  back(page, "unblocked");
});

function back(page: string, notice: string): never {
  const list = new URL(page, "https://self.invalid");
  list.searchParams.set("notice", notice);
  redirect(list.pathname + list.search);
}

export const setPolicyAction = formAction(operatorAt(HOSTS_PATH), { policy: text }, async ({ operator, input, from }) => {
  await setDocumentPolicy(operator, input.policy, from);
  redirect(hostsPath({}, "policy"));
});

export const addRuleAction = formAction(
  operatorAt(HOSTS_PATH),
  { host: text, rule: text, note: text },
  async ({ operator, input, from }) => {
    if (input.rule === "block") redirect(blockHostPath((await previewHostBlock(operator, input.host)).host, input.note));
    await setHostRule(operator, input, from);
    redirect(hostsPath({}, "allowed"));
  },
);

export const blockHostAction = formAction(
  operatorAt((form) => blockHostPath(form.text("host"), form.text("note"))),
  { host: text, note: text },
  async ({ operator, input, from }) => {
    await setHostRule(operator, { ...input, rule: "block" }, from);
    redirect(hostsPath({}, "blocked"));
  },
);

export const removeRuleAction = formAction(operatorAt(HOSTS_PATH), { host: text }, async ({ operator, input, from }) => {
  await removeHostRule(operator, input.host, from);
  redirect(hostsPath({}, "removed"));
});

const KEYS_PATH = "/admin/keys";

export const rotateAction = formAction(operatorAt(KEYS_PATH), {}, async ({ operator, from }, isImmediate: boolean) => {
  await rotateKeys(operator, isImmediate === true, from);
  redirect(`${KEYS_PATH}?notice=${isImmediate === true ? "replaced" : "rotated"}`);
});

const MAIL_PATH = "/admin/mail";

export const sendTestAction = formAction(operatorAt(MAIL_PATH), {}, async ({ operator, from }) => {
  const { id } = await sendTestEmail(operator, undefined, from);
  redirect(`${MAIL_PATH}?test=${id}`);
});

export const retryAction = formAction(operatorAt(MAIL_PATH), {}, async ({ operator }) => {
  await retryMail(operator);
  redirect(`${MAIL_PATH}?notice=retried`);
});

const planScope = operatorOn(organizationPlanPath);

export const choosePlanAction = formAction(planScope, { plan: text }, async ({ page, input: { plan } }) => {
  redirect(`${page}?${new URLSearchParams({ plan })}`);
});

export const setPlanAction = formAction(planScope, { plan: text }, async ({ operator, subject, input: { plan }, from }) => {
  const organization = await findOrganizationByName(subject);
  if (!organization) throw notFound("Organization");
  await setPlan(operator, organization.id, plan === "free" ? null : plan, from);
  redirect(`${ORGANIZATIONS_PATH}?${new URLSearchParams({ search: organization.name, notice: "plan" })}`);
});

const PLATFORMS_PATH = "/admin/platforms";
const platformScope = operatorAt(PLATFORMS_PATH);

export const createPlatformAction = formAction(platformScope, { name: text, source: text }, async ({ operator, input, from }) => {
  const { name, token } = await createPlatform(operator, input, from);
  revalidatePath(PLATFORMS_PATH);
  return {
    message: `${name} can now report its repositories.`,
    values: {},
    secret: { label: `Token of ${name}`, value: token },
  };
});

export const rotateTokenAction = formAction(platformScope, { platform: text }, async ({ operator, input, from }) => {
  const platform = await findLivePlatform(input.platform);
  const { token } = await rotatePlatformToken(operator, platform, from);
  revalidatePath(PLATFORMS_PATH);
  return {
    message: "The previous token works for another day.",
    secret: { label: `New token of ${platform.name}`, value: token },
  };
});

export const revokePlatformAction = formAction(platformScope, { platform: text }, async ({ operator, input, from }) => {
  await revokePlatform(operator, await findLivePlatform(input.platform), from);
  redirect(`${PLATFORMS_PATH}?notice=revoked`);
});

const REGISTRATION_PATH = "/admin/registration";

export const setRegistrationAction = formAction(
  operatorAt(REGISTRATION_PATH),
  { isOn: (form) => form.text("isOn") === "1" },
  async ({ operator, input, from }) => {
    const { isOn } = await setRegistrationPolicy(operator, input, from);
    redirect(`${REGISTRATION_PATH}?notice=${isOn ? "on" : "off"}`);
  },
);

export const confirmBackupsAction = formAction(operatorAt("/admin"), {}, async ({ operator }) => {
  await confirmBackups(operator);
  redirect("/admin");
});

export const dismissSetUpAction = formAction(operatorAt("/admin"), {}, async ({ operator }) => {
  await dismissSetUpSteps(operator);
  redirect("/admin");
});

const SIGN_UP_PATH = "/admin/sign-up";

export const setSignUpAction = formAction(
  operatorAt(SIGN_UP_PATH),
  { isOpen: (form) => form.text("isOpen") === "1" },
  async ({ operator, input, from }) => {
    const { isOpen } = await setSignUpPolicy(operator, input, from);
    redirect(`${SIGN_UP_PATH}?notice=${isOpen ? "open" : "invited"}`);
  },
);

export const setQuotaAction = formAction(
  operatorOn(storageQuotaPath),
  { choice: text, quota: text },
  async ({ operator, subject: handle, input: { choice, quota }, from }) => {
    await setStorageQuota(operator, handle, choice === "size" ? quota : choice, from);
    redirect(`${STORAGE_PATH}?${new URLSearchParams({ search: handle, notice: "quota" })}`);
  },
);

const userScope: Scope<[userId: string], Readonly<{ operator: Person; userId: string; page: string }>> = {
  argumentCount: 1,
  enter: async (form, given) => {
    const { operator, subject: userId, page } = await operatorOn(userPath).enter(form, given);
    if (!isId(userId)) throw notFound("User");
    return { operator, userId, page };
  },
};

export const disableAction = formAction(userScope, {}, async ({ operator, userId, from }) => {
  await disableUser(operator, userId, from);
  redirect(userPath(userId, "disabled"));
});

export const enableAction = formAction(userScope, {}, async ({ operator, userId, from }) => {
  await enableUser(operator, userId, from);
  redirect(userPath(userId, "enabled"));
});

export const endSessionsAction = formAction(userScope, {}, async ({ operator, userId, from }) => {
  await endUserSessions(operator, userId, from);
  redirect(userPath(userId, "signed-out"));
});

export const resetSecondStepAction = formAction(userScope, {}, async ({ operator, userId, from }) => {
  await resetSecondStep(operator, userId, from);
  redirect(userPath(userId, "second-step-reset"));
});

export const setOperatorAction = formAction(userScope, {}, async ({ operator, userId, from }, isOperator: boolean) => {
  await setOperator(operator, userId, isOperator === true, from);
  redirect(userPath(userId, isOperator === true ? "operator" : "no-operator"));
});

export const deleteAction = formAction(
  userScope,
  { confirmation: text },
  async ({ operator, userId, input: { confirmation }, from }) => {
    const user = await findUser(userId);
    if (user) requireConfirmation(confirmation, user.username);
    await deleteAccount(operator, userId, from);
    redirect(`${USERS_PATH}?notice=deleted`);
  },
);
