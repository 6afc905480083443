import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { isServiceError } from "#core/errors.ts";
import { type HostBlockPreview, previewHostBlock } from "#core/oauth/documents/hosts/host-rules.ts";
import { ActionForm, SubmitButton } from "../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { Field } from "../../../_components/fields.client.tsx";
import { Card, PageHeader } from "../../../_components/page-layout.tsx";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { requireOperator } from "../../../_server/session.ts";
import { blockHostAction } from "../../actions.ts";
import { blockHostPath, HOSTS_PATH } from "../../paths.ts";

export const metadata: Metadata = { title: "Block a host · Administration" };

const SHOWN = 5;

export default async function BlockHostPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const [typed, note] = [textOf(query.host), textOf(query.note)];
  const operator = await requireOperator(blockHostPath(typed, note));
  const preview = await previewHostBlock(operator, typed).catch((error: unknown) => {
    // The URL has no valid host, so somebody typed it by hand.
    if (isServiceError(error) && error.code === "invalid_request") redirect(HOSTS_PATH);
    throw error;
  });
  return (
    <>
      <PageHeader
        trail={[{ href: HOSTS_PATH, label: "App hosts" }]}
        title={
          <>
            Block <bdi className="wrap-anywhere">{preview.host}</bdi>?
          </>
        }
      />
      <Card className="max-w-reading p-4 sm:p-5">
        <Consequences preview={preview} />
        <ActionForm action={blockHostAction} values={{ note }} className="mt-5 grid gap-5">
          <input type="hidden" name="host" value={preview.host} />
          <Field name="note" label="Note" hint="The reason, for other operators." isOptional maxLength={300} />
          <div className="flex flex-wrap gap-3">
            <SubmitButton variant="destroy">Block host</SubmitButton>
            <ButtonLink href={HOSTS_PATH}>Cancel</ButtonLink>
          </div>
        </ActionForm>
      </Card>
    </>
  );
}

function Consequences({ preview: { host, clients, userCount } }: Readonly<{ preview: HostBlockPreview }>) {
  const shown = clients.slice(0, SHOWN);
  return (
    <div className="grid gap-3">
      <p>
        Apps of <bdi className="wrap-anywhere font-medium">{host}</bdi> and its subdomains will be refused, unless a more specific
        rule allows them.
      </p>
      {clients.length === 0 ? (
        <p>No apps of this host have been seen, so nobody loses access.</p>
      ) : (
        <>
          <p>
            <strong>{clients.length === 1 ? "1 app" : `${clients.length.toLocaleString("en")} apps`}</strong>{" "}
            {clients.length === 1 ? "was" : "were"} seen there; <strong>{endedSignIns(userCount)}</strong>.
          </p>
          <ul className="grid gap-1.5 text-small">
            {shown.map(({ clientId, name }) => (
              <li key={clientId}>
                <bdi className="wrap-anywhere">{name}</bdi> <code className="block wrap-anywhere text-muted">{clientId}</code>
              </li>
            ))}
            {clients.length > shown.length && (
              <li className="text-muted">and {(clients.length - shown.length).toLocaleString("en")} more</li>
            )}
          </ul>
        </>
      )}
      <p className="text-muted">Unblocking does not restore access: apps must ask again.</p>
    </div>
  );
}

function endedSignIns(people: number): string {
  if (people === 0) return "nobody loses access";
  return people === 1 ? "1 person loses access" : `${people.toLocaleString("en")} people lose access`;
}
