import { findEverything } from "../../_server/find-everything.ts";
import { searchOf } from "../../_server/page-query.ts";

const SHOWN = 5;

export async function GET(request: Request): Promise<Response> {
  const search = searchOf(new URL(request.url).searchParams.get("search") ?? "");
  return Response.json({ items: await findEverything(search, SHOWN) }, { headers: { "Cache-Control": "no-store" } });
}
