import type { Metadata } from "next";
import { ReferencePage } from "./reference-page.tsx";

export const metadata: Metadata = { title: "SDK reference" };

/** Every function and type of the SDK by its subject. */
export default function SdkReferencePage() {
  return <ReferencePage names={["index"]} trail={[]} />;
}
