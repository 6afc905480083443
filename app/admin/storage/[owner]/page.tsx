import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { isServiceError } from "#core/errors.ts";
import { readableSize } from "#core/readable-size.ts";
import { defaultQuota } from "#core/storage/limits.ts";
import { findStoringOwner } from "#core/storage/manage-quotas.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { ChoiceRow } from "../../../_components/choice-row.client.tsx";
import { Field } from "../../../_components/field.client.tsx";
import { Meter, ofLimit } from "../../../_components/meter.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { ProveIdentity } from "../../../_components/prove-identity.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { requireOperator } from "../../../_server/operator-page.ts";
import { setQuotaAction } from "../actions.ts";
import { STORAGE_PATH, storageQuotaPath } from "../storage-path.ts";

type Props = Readonly<{ params: Promise<{ owner: string }> }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Quota of ${(await params).owner} · Administration` };
}

const words = (bytes: number | null): string => (bytes === null ? "no limit" : readableSize(bytes));

/** What one user or organization may store in repositories. */
export default async function StorageQuotaPage({ params }: Props) {
  const { owner: named } = await params;
  const page = storageQuotaPath(named);
  const operator = await requireOperator(page);
  const owner = await findStoringOwner(operator, named).catch((error: unknown) => {
    if (isServiceError(error) && error.code === "not_found") notFound();
    throw error;
  });
  const { handle, kind, bytes, quota, isQuotaSet } = owner;
  const used = bytes.git + bytes.lfs;
  const values = {
    choice: !isQuotaSet ? "default" : quota === null ? "none" : "size",
    quota: isQuotaSet && quota !== null ? readableSize(quota) : "",
  };
  return (
    <>
      <PageHeader
        title={handle}
        trail={[{ href: STORAGE_PATH, label: "Storage" }]}
        description={`What ${kind === "user" ? "this person" : "this organization"} may store in repositories.`}
      />
      <div className="grid grid-cols-1 gap-5">
        <SectionCard title="Now">
          <Meter
            label="Git and Git LFS"
            text={ofLimit(readableSize(used), quota === null ? null : readableSize(quota))}
            value={used}
            max={quota}
          />
        </SectionCard>
        {!isRecentlyAuthenticated(operator) ? (
          <ProveIdentity returnTo={page}>To change the quota, confirm that it is you.</ProveIdentity>
        ) : (
          <SectionCard title="Quota" description="Nothing is deleted by it. Whoever stores more than that cannot add anything.">
            <ActionForm action={setQuotaAction.bind(null, handle)} values={values} className="grid max-w-reading gap-5">
              <fieldset className="grid gap-2">
                <legend className="sr-only">Quota of {handle}</legend>
                <ChoiceRow
                  type="radio"
                  name="choice"
                  value="default"
                  isBoxed
                  label="As everybody"
                  hint={`${kind === "user" ? "STORAGE_USER_GB" : "STORAGE_ORGANIZATION_GB"}: ${words(defaultQuota(kind))}`}
                />
                <ChoiceRow type="radio" name="choice" value="size" isBoxed label="A quota of their own" hint="The size below" />
                <ChoiceRow type="radio" name="choice" value="none" isBoxed label="No limit" hint="As long as the disk has room" />
              </fieldset>
              <Field
                name="quota"
                label="Size"
                hint="Such as 200 GB or 1.5 TB. Only for a quota of their own."
                isOptional
                autoComplete="off"
                maxLength={20}
              />
              <div className="flex flex-wrap gap-3">
                <SubmitButton>Set the quota</SubmitButton>
                <ButtonLink variant="quiet" href={STORAGE_PATH}>
                  Cancel
                </ButtonLink>
              </div>
            </ActionForm>
          </SectionCard>
        )}
      </div>
    </>
  );
}
