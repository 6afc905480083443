import { Heart } from "lucide-react";
import Link from "next/link";
import { isLikedBy } from "#core/hub/repos/likes.ts";
import { ActionButton } from "../../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../../_components/button.tsx";
import { signInPath } from "../../../../../_server/next-path.ts";
import { type RepoPage, repoHref, repoNameOf } from "../../../../../_server/repo-page.ts";
import { likeAction } from "./actions.ts";

const count = new Intl.NumberFormat("en", { notation: "compact" });

export async function LikeButton({ page: { repo, person } }: Readonly<{ page: RepoPage }>) {
  const isLiked = person !== undefined && (await isLikedBy(person.userId, repo.id));
  return (
    <div className="flex items-start gap-1.5">
      {person ? (
        <ActionButton action={likeAction.bind(null, repoNameOf(repo))} fields={{ like: isLiked ? "0" : "1" }}>
          <Heart className={`size-4 ${isLiked ? "fill-bad text-bad" : ""}`} aria-hidden="true" />
          {isLiked ? "Unlike" : "Like"}
        </ActionButton>
      ) : (
        <ButtonLink size="small" href={signInPath(repoHref(repo))}>
          <Heart className="size-4" aria-hidden="true" />
          Like
        </ButtonLink>
      )}
      <Link
        prefetch={false}
        href={repoHref(repo, "likes")}
        className="inline-flex h-8 items-center rounded-control px-2 text-muted text-small hover:bg-sunken hover:text-ink"
      >
        {count.format(repo.likes)}
        <span className="sr-only">{repo.likes === 1 ? " like" : " likes"}</span>
      </Link>
    </div>
  );
}
