import { redirect } from "next/navigation";
import { requireOperator } from "../_server/operator-page.ts";

export default async function AdminPage() {
  await requireOperator("/admin");
  redirect("/admin/apps");
}
