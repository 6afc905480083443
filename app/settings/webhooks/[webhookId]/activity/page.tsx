import { redirect } from "next/navigation";
import { type PageQuery, textOf } from "../../../../_server/page-query.ts";
import { webhookPath } from "../../../../_server/paths.ts";

type Props = Readonly<{ params: Promise<{ webhookId: string }>; searchParams: PageQuery }>;

/** In other services the activity has a page at this URL, so users try it here. */
export default async function OwnActivityPage({ params, searchParams }: Props) {
  const query = Object.entries(await searchParams).map(([name, value]) => [name, textOf(value)]);
  redirect(`${webhookPath(null, (await params).webhookId)}?${new URLSearchParams(query)}`);
}
