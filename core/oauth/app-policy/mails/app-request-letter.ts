import { type Letter, letter, link } from "#core/accounts/mails/letter.ts";

type Asked = { greeted: string; asker: string; organization: string; app: string };

/** To the administrators of an organization. The owner chooses the app's name, so it is put in quotation marks. */
export function appRequestLetter({ greeted, asker, organization, app }: Asked): Letter {
  return letter(`${asker} asks for an app in ${organization}`, greeted, [
    `${asker} asks that the app "${app}" be let into the organization ${organization}. Approve or block it here:`,
    link(`/organizations/${organization}/settings/app-policy`),
  ]);
}
