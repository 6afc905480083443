import type { ReactNode } from "react";
import { SideFrame } from "../_components/side-frame.tsx";
import { SideNavigation } from "../_components/side-navigation.tsx";
import { sections } from "./sections.ts";

export default function SettingsLayout({ children }: Readonly<{ children: ReactNode }>) {
  return <SideFrame navigation={<SideNavigation label="Settings" sections={sections} />}>{children}</SideFrame>;
}
