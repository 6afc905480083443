import type { Metadata } from "next";
import Link from "next/link";
import { AccountLine } from "../_components/account-line.tsx";
import { ActionForm, SubmitButton } from "../_components/action-form.client.tsx";
import { CardFrame, CardHeader } from "../_components/card-frame.tsx";
import { type PageQuery, textOf } from "../_server/page-query.ts";
import { requireSession } from "../_server/session.ts";
import { findDevice } from "./actions.ts";
import { AboutDevices } from "./code-over.tsx";
import { activatePath } from "./device-code.ts";
import { UserCodeField } from "./user-code-field.client.tsx";

export const metadata: Metadata = { title: "Connect a device" };

/** Looks nothing up before the user submits the code (RFC 8628 §3.3). @param searchParams `user_code`: of a QR code (§3.3.1) */
export default async function ActivatePage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const userCode = textOf((await searchParams).user_code);
  const path = activatePath(userCode);
  const { user } = await requireSession(path);
  return (
    <CardFrame footnote={<AboutDevices />}>
      <CardHeader title="Connect a device">
        {userCode
          ? "Compare the code with the one on your device. Continue only if they match."
          : "Enter the code shown on your device or in your terminal."}
      </CardHeader>
      <div className="mt-5">
        <AccountLine
          user={user}
          action={
            <Link prefetch={false} href={`/login?${new URLSearchParams({ switch: "1", next: path })}`} className="link">
              Switch account
            </Link>
          }
        />
      </div>
      <div className="px-6 py-5">
        <ActionForm action={findDevice} values={{ user_code: userCode }}>
          <UserCodeField />
          <SubmitButton isWide>Continue</SubmitButton>
        </ActionForm>
      </div>
    </CardFrame>
  );
}
