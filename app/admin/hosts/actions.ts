"use server";

import { redirect } from "next/navigation";
import { setDocumentPolicy } from "#core/oauth/documents/hosts/document-policy.ts";
import { previewHostBlock } from "#core/oauth/documents/hosts/preview-host-block.ts";
import { removeHostRule } from "#core/oauth/documents/hosts/remove-host-rule.ts";
import { setHostRule } from "#core/oauth/documents/hosts/set-host-rule.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { blockHostPath, HOSTS_PATH, hostsPath } from "./hosts-path.ts";

export async function setPolicyAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await setDocumentPolicy(await requireOperator(HOSTS_PATH), form.text("policy"), await requestOrigin());
      redirect(hostsPath({}, "policy"));
    },
    { page: HOSTS_PATH },
  );
}

/** A host that is to be blocked is asked about first, with what that ends. */
export async function addRuleAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(HOSTS_PATH);
      const input = { host: form.text("host"), rule: form.text("rule"), note: form.text("note") };
      if (input.rule === "block") redirect(blockHostPath((await previewHostBlock(operator, input.host)).host, input.note));
      await setHostRule(operator, input, await requestOrigin());
      redirect(hostsPath({}, "allowed"));
    },
    { page: HOSTS_PATH },
  );
}

export async function blockHostAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const input = { host: form.text("host"), rule: "block", note: form.text("note") };
      await setHostRule(await requireOperator(HOSTS_PATH), input, await requestOrigin());
      redirect(hostsPath({}, "blocked"));
    },
    { page: (form) => blockHostPath(form.text("host"), form.text("note")) },
  );
}

export async function removeRuleAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await removeHostRule(await requireOperator(HOSTS_PATH), form.text("host"), await requestOrigin());
      redirect(hostsPath({}, "removed"));
    },
    { page: HOSTS_PATH },
  );
}
