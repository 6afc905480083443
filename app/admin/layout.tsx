import type { ReactNode } from "react";
import { SideFrame, SideNavigation } from "../_components/side-frame.tsx";
import { requireOperator } from "../_server/session.ts";
import { adminSections } from "./sections.ts";

export default async function AdminLayout({ children }: Readonly<{ children: ReactNode }>) {
  await requireOperator("/admin");
  return <SideFrame navigation={<SideNavigation label="Administration" sections={adminSections} />}>{children}</SideFrame>;
}
