import type { Metadata } from "next";
import { ReferencePage } from "../../reference-page.tsx";

type MemberPageProps = Readonly<{ params: Promise<{ kind: string; name: string }> }>;

export async function generateMetadata({ params }: MemberPageProps): Promise<Metadata> {
  return { title: `${(await params).name} · SDK reference` };
}

export default async function MemberPage({ params }: MemberPageProps) {
  const { kind, name } = await params;
  return <ReferencePage names={[kind, name]} trail={[{ href: "/docs/sdk/reference", label: "Reference" }]} />;
}
