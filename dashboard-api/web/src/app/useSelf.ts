import { useQueryClient } from "@tanstack/react-query";
import type { Session, User } from "../api/types";

/** Who is signed in, as the gate found. */
export function useSession(): Session | undefined {
  return useQueryClient().getQueryData<Session>(["session"]);
}

export const useSelf = (): User | null => useSession()?.user ?? null;

/** What viewers may not do is not offered to them. */
export const useMayEdit = (): boolean => useSession()?.role !== "viewer";
