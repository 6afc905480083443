import { SearchX, Users } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { type ListedUser, listUsers, type UserState, userStates } from "#core/accounts/users/list-users.ts";
import { Avatar } from "../../_components/avatar.tsx";
import { avatarSrc } from "../../_components/avatar-src.ts";
import { ButtonLink } from "../../_components/button.tsx";
import { Card } from "../../_components/card.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { Pagination } from "../../_components/pagination.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SearchForm } from "../../_components/search-form.tsx";
import { Select } from "../../_components/select.client.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { UserChips } from "./user-chips.tsx";
import { USERS_PATH, userPath, usersPath } from "./users-path.ts";

export const metadata: Metadata = { title: "Users · Administration" };

const stateLabels: Record<UserState, string> = {
  operator: "Operators",
  disabled: "Disabled",
  unverified: "Address not verified",
};

/** Every account of the installation. */
export default async function AdminUsersPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const search = searchOf(query.search);
  const state = userStates.find((each) => each === textOf(query.state));
  const operator = await requireOperator(USERS_PATH);
  const users = await listUsers(operator, { text: search, ...(state && { state }), page: Number(textOf(query.page)) });
  const { items, page, pageSize, total } = users;
  if (items.length === 0 && total > 0) redirect(usersPath({ search, state, page: Math.ceil(total / pageSize) }));
  return (
    <>
      <PageHeader title="Users" description="Everybody with an account here, the newest first." />
      <div className="grid grid-cols-1 gap-5">
        {textOf(query.notice) === "deleted" && (
          <FormMessage tone="good">The account is deleted. Nobody can take its name again.</FormMessage>
        )}
        <SearchForm action={USERS_PATH} label="Beginning of a name or an e-mail address, or an id" value={search}>
          <div className="min-w-44">
            <Select
              name="state"
              label="State"
              defaultValue={state ?? ""}
              options={[{ value: "", label: "Any" }, ...userStates.map((value) => ({ value, label: stateLabels[value] }))]}
            />
          </div>
        </SearchForm>
        <div>
          <Card>
            {total === 0 ? (
              <NoUsers />
            ) : (
              <List label="Users">
                {items.map((user) => (
                  <UserRow key={user.id} user={user} />
                ))}
              </List>
            )}
          </Card>
          <Pagination
            label="users"
            page={page}
            pageSize={pageSize}
            total={total}
            hrefOf={(at) => usersPath({ search, state, page: at })}
          />
        </div>
      </div>
    </>
  );
}

function UserRow({ user }: Readonly<{ user: ListedUser }>) {
  const { id, username, fullName, email, avatarId, createdAt } = user;
  return (
    <ListRow
      leading={<Avatar name={fullName || username} src={avatarSrc(username, avatarId)} />}
      title={
        <>
          <Link prefetch={false} href={userPath(id)} className="link wrap-anywhere min-w-0">
            {username}
          </Link>
          <UserChips user={user} />
        </>
      }
      meta={
        <>
          {fullName && fullName !== username && (
            <>
              <bdi>{fullName}</bdi> ·{" "}
            </>
          )}
          <span className="wrap-anywhere">{email}</span> · joined <RelativeTime at={createdAt} />
        </>
      }
    />
  );
}

function NoUsers() {
  return (
    <EmptyState
      Icon={SearchX}
      title="Nobody is like that"
      action={
        <ButtonLink href={USERS_PATH}>
          <Users className="size-4" aria-hidden="true" />
          Show everybody
        </ButtonLink>
      }
    >
      Names and addresses are found by how they begin, an id only as a whole.
    </EmptyState>
  );
}
