import type { ReactNode } from "react";
import { SideFrame } from "../_components/side-frame.tsx";
import { SideNavigation } from "../_components/side-navigation.tsx";
import { requireOperator } from "../_server/operator-page.ts";
import { sections } from "./sections.ts";

export default async function AdminLayout({ children }: Readonly<{ children: ReactNode }>) {
  await requireOperator("/admin");
  return <SideFrame navigation={<SideNavigation label="Administration" sections={sections} />}>{children}</SideFrame>;
}
