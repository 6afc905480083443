import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { env } from "#core/env.ts";
import { CardFooter } from "../_components/card-footer.tsx";
import { CardFrame } from "../_components/card-frame.tsx";
import { CardHeader } from "../_components/card-header.tsx";
import { SignInElsewhere } from "../_components/sign-in-elsewhere.tsx";
import { nextPath } from "../_server/next-path.ts";
import type { PageQuery } from "../_server/page-query.ts";
import { currentSession } from "../_server/session.ts";
import { SignUpForm } from "./sign-up-form.tsx";

export const metadata: Metadata = { title: "Create an account" };

export default async function SignUpPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const next = nextPath((await searchParams).next);
  if (await currentSession()) redirect(next);
  return (
    <CardFrame>
      <CardHeader title={`Create a ${env().BRAND_NAME} account`} />
      <div className="grid gap-5 px-6 pt-5 pb-6">
        <SignUpForm next={next} />
        <SignInElsewhere next={next} />
      </div>
      <CardFooter>
        Have an account already?{" "}
        <Link prefetch={false} className="link text-ink" href={`/login?${new URLSearchParams({ next })}`}>
          Sign in
        </Link>
      </CardFooter>
    </CardFrame>
  );
}
