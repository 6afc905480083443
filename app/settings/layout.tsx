import type { ReactNode } from "react";
import { SideFrame, SideNavigation } from "../_components/side-frame.tsx";
import { settingsSections } from "./sections.ts";

export default function SettingsLayout({ children }: Readonly<{ children: ReactNode }>) {
  return <SideFrame navigation={<SideNavigation label="Settings" sections={settingsSections} />}>{children}</SideFrame>;
}
