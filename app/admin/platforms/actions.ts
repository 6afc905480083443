"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { createPlatform } from "#core/hub/platforms/create-platform.ts";
import { findLivePlatform } from "#core/hub/platforms/find-platform.ts";
import { revokePlatform } from "#core/hub/platforms/revoke-platform.ts";
import { rotatePlatformToken } from "#core/hub/platforms/rotate-platform-token.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";

const PAGE = "/admin/platforms";

export async function createPlatformAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(PAGE);
      const input = { name: form.text("name"), source: form.text("source") };
      const { name, token } = await createPlatform(operator, input, await requestOrigin());
      revalidatePath(PAGE);
      return {
        message: `${name} may tell of its repositories.`,
        values: {},
        secret: { label: `Token of ${name}`, value: token },
      };
    },
    { page: PAGE },
  );
}

export async function rotateTokenAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(PAGE);
      const platform = await findLivePlatform(form.text("platform"));
      const { token } = await rotatePlatformToken(operator, platform, await requestOrigin());
      revalidatePath(PAGE);
      return {
        message: "The token before works for a day more.",
        secret: { label: `New token of ${platform.name}`, value: token },
      };
    },
    { page: PAGE },
  );
}

export async function revokePlatformAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(PAGE);
      await revokePlatform(operator, await findLivePlatform(form.text("platform")), await requestOrigin());
      redirect(`${PAGE}?notice=revoked`);
    },
    { page: PAGE },
  );
}
