import type { Metadata } from "next";
import { ReferencePage } from "./reference-page.tsx";

export const metadata: Metadata = { title: "SDK reference" };

export default function SdkReferencePage() {
  return <ReferencePage names={["index"]} trail={[]} />;
}
