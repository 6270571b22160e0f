import { useQuery } from "@tanstack/react-query";
import { accountApi } from "../api/accounts";
import { useSession } from "../app/useSelf";
import { t } from "../words/t";
import { nameOf } from "./roles";

/** The users; none for who is no owner and so may not see them. */
export function useMembers() {
  const owner = useSession()?.role === "owner";
  return useQuery({ queryKey: ["members"], queryFn: accountApi.members, enabled: owner });
}

/** API keys: those of everybody for an owner, else one's own. */
export const useApiKeys = () => useQuery({ queryKey: ["keys"], queryFn: accountApi.keys });

interface Named {
  id: number;
  name: string;
}

/** Who did something, as the log has it, in words: user:1 is Ann, key:2 the key Deploy. */
export function actorName(
  actor: string,
  people: readonly (Named & { email: string })[],
  keys: readonly Named[],
): string {
  const [kind, number] = actor.split(":");
  const id = Number(number);
  if (kind === "user") {
    const person = people.find((one) => one.id === id);
    return person ? nameOf(person) : t("a removed user ({id})", { id });
  }
  if (kind === "key") {
    const key = keys.find((one) => one.id === id);
    return key ? t("the key {name}", { name: key.name }) : t("an ended key ({id})", { id });
  }
  if (actor === "cli") return t("the operator’s tool");
  if (actor === "system") return t("the installation");
  return actor === "" ? t("nobody signed in") : actor;
}
