import { useSession } from "../app/useSelf";
import { actorWord, isSelf } from "../incidents/words";
import { actorName, useApiKeys, useMembers } from "../settings/people";

/** Who did something: by name for owners, who may see all names. */
export function useWho(): (actor: string) => string {
  const self = useSession()?.user ?? null;
  const people = useMembers().data;
  const keys = useApiKeys().data;
  return (actor) =>
    people && keys && actor !== "" && !isSelf(actor, self) ? actorName(actor, people, keys) : actorWord(actor, self);
}
