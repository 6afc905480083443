import type { Metadata } from "next";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { readableSize } from "#core/readable-size.ts";
import { defaultQuota } from "#core/storage/limits.ts";
import { findStoringOwner } from "#core/storage/manage-quotas.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { Choices, Field } from "../../../_components/fields.client.tsx";
import { Meter, ofLimit } from "../../../_components/figures.tsx";
import { FormButtons } from "../../../_components/form-buttons.tsx";
import { PageColumn, SectionCard } from "../../../_components/page-layout.tsx";
import { ProveIdentity } from "../../../_components/prove-identity.tsx";
import { orNotFound } from "../../../_server/or-not-found.ts";
import { requireOperator } from "../../../_server/session.ts";
import { setQuotaAction } from "../../actions.ts";
import { STORAGE_PATH, storageQuotaPath } from "../../paths.ts";

type Props = Readonly<{ params: Promise<{ owner: string }> }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Quota of ${(await params).owner} · Administration` };
}

const words = (bytes: number | null): string => (bytes === null ? "no limit" : readableSize(bytes));

export default async function StorageQuotaPage({ params }: Props) {
  const { owner: named } = await params;
  const page = storageQuotaPath(named);
  const operator = await requireOperator(page);
  const owner = await orNotFound(findStoringOwner(operator, named));
  const { handle, kind, bytes, quota, isQuotaSet } = owner;
  const used = bytes.git + bytes.lfs;
  const values = {
    choice: !isQuotaSet ? "default" : quota === null ? "none" : "size",
    quota: isQuotaSet && quota !== null ? readableSize(quota) : "",
  };
  return (
    <PageColumn
      title={handle}
      trail={[{ href: STORAGE_PATH, label: "Storage" }]}
      description={`How much ${kind === "user" ? "this person" : "this organization"} can store in repositories.`}
    >
      <SectionCard title="Usage">
        <Meter
          label="Git and Git LFS"
          text={ofLimit(readableSize(used), quota === null ? null : readableSize(quota))}
          value={used}
          max={quota}
        />
      </SectionCard>
      {!isRecentlyAuthenticated(operator) ? (
        <ProveIdentity returnTo={page}>Confirm your identity to change the quota.</ProveIdentity>
      ) : (
        <SectionCard title="Quota" description="Nothing is deleted. An owner over the quota cannot add anything.">
          <ActionForm action={setQuotaAction.bind(null, handle)} values={values} className="group/quota grid max-w-reading gap-5">
            <Choices
              legend={`Quota of ${handle}`}
              isLegendHidden
              name="choice"
              options={[
                {
                  value: "default",
                  label: "Default",
                  hint: `${kind === "user" ? "STORAGE_USER_GB" : "STORAGE_ORGANIZATION_GB"}: ${words(defaultQuota(kind))}`,
                },
                { value: "size", label: "Custom quota", hint: "A size, for example 200 GB or 1.5 TB" },
                { value: "none", label: "No limit", hint: "As long as the disk has space" },
              ]}
            />
            <div className="hidden group-has-[input[value=size]:checked]/quota:block">
              <Field name="quota" label="Size" isOptional autoComplete="off" maxLength={20} />
            </div>
            <FormButtons cancelHref={STORAGE_PATH}>Set quota</FormButtons>
          </ActionForm>
        </SectionCard>
      )}
    </PageColumn>
  );
}
